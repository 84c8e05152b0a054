/** `muster storage`: sizes in the database, rows due for removal, and retention. */
import { type Command, InvalidArgumentError } from "commander";
import type { Retention } from "#features/storage/contract.ts";
import type { CliHost } from "#surfaces/cli/kit/host.ts";
import { DONE, type Ending, type Invocation, perform } from "#surfaces/cli/kit/invocation.ts";
import { formatBytes, formatTable } from "#surfaces/cli/kit/text/terminal.ts";

const MAX_COUNTED = 10_000;

export function addStorageCommands(program: Command, host: CliHost): void {
  const group = program
    .command("storage")
    .description("Show what takes space in the database and what will be removed (admins).")
    .action((_options: object, command: Command) => perform(host, command, show));
  group
    .command("keep")
    .description("Set how long a kind of row is kept (admins).")
    .argument("<kind>", "as `muster storage` names it, such as audit")
    .argument("<days>", "a number of days, `forever`, or `default`", daysOf)
    .action((kind: string, days: Days, _options: object, command: Command) =>
      perform(host, command, (invocation) => setRetention(invocation, kind, days)),
    );
}

async function show(invocation: Invocation): Promise<Ending> {
  const storage = await invocation.api().storage.get();
  const { database, kinds, largestSessions, retention, heldUntil } = storage;
  const free =
    database.freeBytes === null
      ? ""
      : `, ${formatBytes(database.freeBytes)} of it free for new rows`;
  invocation.print(storage, [
    `Database: ${database.kind}, ${formatBytes(database.bytes)}${free}`,
    "",
    ...formatTable(
      ["KIND", "SIZE", "ROWS", ""],
      kinds.map(({ kind, bytes, rows, isEstimate, tables }) => [
        kind,
        formatBytes(bytes),
        `${isEstimate ? "~" : ""}${rows}`,
        tables
          .slice(0, 3)
          .map(({ table, bytes: size }) => `${table} ${formatBytes(size)}`)
          .join(", "),
      ]),
    ),
    "",
    ...formatTable(
      ["LONGEST LOGS", "EVENTS", "ABOUT", "STATE"],
      largestSessions.map(({ sessionId, events, bytes, lifecycle }) => [
        sessionId,
        String(events),
        formatBytes(bytes),
        lifecycle,
      ]),
    ),
    "",
    ...retentionLines(retention),
    ...(heldUntil === null
      ? []
      : ["", `The database was restored: nothing is removed before ${heldUntil}.`]),
  ]);
  return DONE;
}

async function setRetention(invocation: Invocation, kind: string, days: Days): Promise<Ending> {
  const answer = await invocation.api().storage.setRetention({ name: kind, body: { days } });
  invocation.print(answer, retentionLines(answer.items));
  return DONE;
}

type Days = number | null | "default";

function daysOf(given: string): Days {
  if (given === "default") return given;
  if (given === "forever") return null;
  if (/^\d{1,5}$/.test(given)) return Number(given);
  throw new InvalidArgumentError("Write a number of days, forever, or default.");
}

function retentionLines(retention: readonly Retention[]): string[] {
  const count = (n: number) => (n >= MAX_COUNTED ? `${MAX_COUNTED} or more` : String(n));
  const lines = formatTable(
    ["KEPT", "DAYS", "DUE NOW", "DUE WITHIN A WEEK", ""],
    retention.map(({ kind, days, isSet, due, dueInWeek, summary }) => [
      kind,
      `${days === null ? "forever" : days}${isSet ? "" : " (default)"}`,
      count(due),
      count(dueInWeek),
      summary,
    ]),
  );
  const kept = retention.flatMap(({ kind, whyKept }) =>
    whyKept === null ? [] : [`${kind}: ${whyKept}`],
  );
  return kept.length === 0 ? lines : [...lines, "", ...kept];
}

import type { Command } from "commander";
import type { Entry, Prompt, Session } from "#protocol/sessions.ts";
import { findSessionId, SESSION_ARGUMENT } from "#surfaces/cli/kit/find-session.ts";
import type { CliHost } from "#surfaces/cli/kit/host.ts";
import { DONE, type Ending, type Invocation, perform } from "#surfaces/cli/kit/invocation.ts";
import { budgetLine } from "#surfaces/cli/kit/session-money.ts";
import { safeLine, safeText, shorten, styleFor, timeAgo } from "#surfaces/cli/kit/text/terminal.ts";

const ENTRIES = 10;
const QUEUE_WIDTH = 100;
const ENTRY_LINES = 12;

export function addSessionsShowCommand(group: Command, host: CliHost): void {
  group
    .command("show")
    .description("Show a session, its last entries and its queue.")
    .argument("<session>", SESSION_ARGUMENT)
    .action((id: string, _options: object, command: Command) =>
      perform(host, command, (invocation) => showSession(invocation, id)),
    );
}

async function showSession(invocation: Invocation, which: string): Promise<Ending> {
  const api = invocation.api();
  const id = await findSessionId(api, which);
  const { session } = await api.sessions.get({ id });
  const [entries, queue] = await Promise.all([
    api.sessions.transcript({ id, query: { limit: ENTRIES } }),
    api.prompts.list({ id, query: { state: "queued,collecting" } }),
  ]);
  const value = { session, entries: entries.items, queue: queue.items };
  invocation.print(value, [
    ...detailLines(session),
    ...sectionLines(invocation.host, "Last entries", entries.items.flatMap(entryLines)),
    ...sectionLines(invocation.host, "Queued", queue.items.map(queueLine)),
  ]);
  return DONE;
}

function detailLines(session: Session): string[] {
  const details: [name: string, value: string | null][] = [
    ["id", session.id],
    ["title", session.title],
    ["activity", session.activity],
    ["waits for", waitLine(session)],
    ["failed", errorLine(session)],
    ["lifecycle", session.lifecycle],
    ["persona", personaLine(session)],
    ["runtime", session.runtime],
    ["model", session.model],
    ["parent", session.parentSessionId],
    ["repository", session.repo],
    ["branch", session.branch],
    ["folder", session.projectDir],
    ["machine", session.hostname],
    ["budget", budgetLine(session)],
    ["memory", session.enableMemory ? "on" : "off"],
    ["prompts", `${session.counts.prompts} (${session.counts.queued} queued)`],
    ["created", timeAgo(session.createdAt)],
    ["changed", timeAgo(session.updatedAt)],
  ];
  return details
    .filter((detail): detail is [string, string] => detail[1] !== null)
    .map(([name, value]) => `${name.padEnd(12)}${safeLine(value)}`);
}

/** The wait of a session in one line: kind, advice and end. */
function waitLine({ waitingFor }: Session): string | null {
  if (!waitingFor) return null;
  const { kind, message, until } = waitingFor;
  return `${kind}: ${message}${until === null ? "" : ` (until ${until})`}`;
}

/** A server of an earlier version does not send it. */
function errorLine({ lastError }: Partial<Session>): string | null {
  return lastError ? `${lastError.message} [${lastError.code}]` : null;
}

function personaLine({ persona, personaVersion }: Partial<Session>): string | null {
  if (persona == null) return null;
  return personaVersion == null ? persona : `${persona} (version ${personaVersion})`;
}

function sectionLines(host: CliHost, title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ["", styleFor(host.stdout, host.env).bold(title), ...lines];
}

function entryLines(entry: Entry): string[] {
  const who = entry.kind === "prompt" ? (entry.author?.name ?? "you") : entry.kind;
  const text = entry.tool ? `${entry.tool.name} ${outcomeOf(entry.tool)}` : (entry.text ?? "");
  const [first = "", ...rest] = safeText(text).trim().split("\n");
  const shown = rest.slice(0, ENTRY_LINES - 1);
  const more = rest.length > shown.length ? [`  … ${rest.length - shown.length} more lines`] : [];
  return [`[${safeLine(who)}] ${first}`, ...shown.map((line) => `  ${line}`), ...more];
}

function outcomeOf(tool: NonNullable<Entry["tool"]>): string {
  if (tool.error !== null) return `failed: ${tool.error}`;
  return tool.exitCode === null || tool.exitCode === 0 ? "" : `exit code ${tool.exitCode}`;
}

function queueLine(prompt: Prompt): string {
  const why = prompt.waitingFor ? ` (${prompt.waitingFor.message})` : "";
  return `${prompt.id}  ${shorten(safeLine(prompt.content), QUEUE_WIDTH)}${why}`;
}

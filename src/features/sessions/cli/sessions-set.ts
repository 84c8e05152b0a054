/** `muster sessions set`: budget and memory of a session. */
import { type Command, InvalidArgumentError, Option } from "commander";
import { findSessionId, SESSION_ARGUMENT } from "#surfaces/cli/kit/find-session.ts";
import type { CliHost } from "#surfaces/cli/kit/host.ts";
import { DONE, type Ending, type Invocation, perform } from "#surfaces/cli/kit/invocation.ts";
import { budgetLine } from "#surfaces/cli/kit/session-money.ts";

const MICROS = 1_000_000;
const NONE = "none";

interface SetOptions {
  budget?: number | typeof NONE;
  memory?: "on" | "off";
}

export function addSessionsSetCommand(group: Command, host: CliHost): void {
  group
    .command("set")
    .description("Change a session's budget and memory.")
    .argument("<session>", SESSION_ARGUMENT)
    .option(
      "--budget <dollars>",
      "the most it may cost in total, such as 2.50; none: no limit",
      budget,
    )
    .addOption(new Option("--memory <memory>", "remember across sessions").choices(["on", "off"]))
    .action((which: string, options: SetOptions, command: Command) =>
      perform(host, command, (invocation) => setSession(invocation, which, options)),
    );
}

function budget(text: string): number | typeof NONE {
  if (text === NONE) return NONE;
  const dollars = Number(text);
  if (text.trim() === "" || !(dollars >= 0) || dollars > 1_000_000)
    throw new InvalidArgumentError("Give an amount in dollars, such as 2.50, or none.");
  return Math.round(dollars * MICROS);
}

async function setSession(
  invocation: Invocation,
  which: string,
  { budget: micros, memory }: SetOptions,
): Promise<Ending> {
  const api = invocation.api();
  const id = await findSessionId(api, which);
  const body = {
    ...(micros !== undefined && { budget: micros === NONE ? null : micros }),
    ...(memory !== undefined && { enableMemory: memory === "on" }),
  };
  const answer =
    Object.keys(body).length === 0
      ? await api.sessions.get({ id })
      : await api.sessions.update({ id, body });
  const { session } = answer;
  invocation.print(answer, [
    `Budget: ${budgetLine(session)}`,
    `Memory: ${session.enableMemory ? "on" : "off"}`,
  ]);
  return DONE;
}

/** `muster sessions steer|detach|end`: actions on a session of the tree. */
import { randomUUID } from "node:crypto";
import type { Command } from "commander";
import { Refusal } from "#base/refusal.ts";
import type { Api } from "#surfaces/cli/client/api.ts";
import { confirm } from "#surfaces/cli/kit/confirm.ts";
import { EXIT } from "#surfaces/cli/kit/exit-codes.ts";
import { findSessionId, SESSION_ARGUMENT } from "#surfaces/cli/kit/find-session.ts";
import type { CliHost } from "#surfaces/cli/kit/host.ts";
import { DONE, type Ending, type Invocation, perform } from "#surfaces/cli/kit/invocation.ts";
import { safeLine } from "#surfaces/cli/kit/text/terminal.ts";
import { isOver } from "./chat/child-changes.ts";

interface EndOptions {
  yes?: boolean;
  forGood?: boolean;
}

export function addSessionsLeadCommands(group: Command, host: CliHost): void {
  group
    .command("steer")
    .description("Interrupt the running turn and do this instead; its work is kept.")
    .argument("<session>", SESSION_ARGUMENT)
    .argument("<prompt...>", "the new prompt")
    .action((which: string, words: string[], _options: object, command: Command) =>
      perform(host, command, (invocation) => steer(invocation, which, words.join(" "))),
    );
  group
    .command("detach")
    .description("Detach a session from its parent. It continues; the parent is notified.")
    .argument("<session>", SESSION_ARGUMENT)
    .action((which: string, _options: object, command: Command) =>
      perform(host, command, (invocation) => detach(invocation, which)),
    );
  group
    .command("end")
    .description("End a session and its children. They are kept for 7 days.")
    .argument("<session>", SESSION_ARGUMENT)
    .option("--for-good", "end them permanently: no more prompts, and no way back")
    .option("--yes", "skip the question")
    .action((which: string, options: EndOptions, command: Command) =>
      perform(host, command, (invocation) => end(invocation, which, options)),
    );
}

async function steer(invocation: Invocation, which: string, content: string): Promise<Ending> {
  const api = invocation.api();
  const id = await findSessionId(api, which);
  const body = { content, mode: "steer", dispatchId: randomUUID() } as const;
  const answer = await api.again.prompts.create({ id, body });
  invocation.print(answer, [`${id} gets your prompt now. Follow it with: muster chat ${id}`]);
  return DONE;
}

async function detach(invocation: Invocation, which: string): Promise<Ending> {
  const api = invocation.api();
  const id = await findSessionId(api, which);
  const answer = await api.delegation.detach({ id });
  invocation.print(answer, [`${id} is detached and no longer has a parent.`]);
  return DONE;
}

async function end(
  invocation: Invocation,
  which: string,
  { yes = false, forGood = false }: EndOptions,
): Promise<Ending> {
  const { host } = invocation;
  const api = invocation.api();
  const id = await findSessionId(api, which);
  if (!yes && host.stdin.isTTY !== true)
    throw new Refusal(
      "invalid",
      "wrong_usage",
      "There is no terminal to confirm this. Add --yes to end it.",
    );
  if (!yes && !(await confirm(host, await endQuestion(api, id, forGood)))) {
    invocation.note("Nothing was changed.");
    return EXIT.failed;
  }
  const answer = forGood
    ? await api.again.sessions.terminate({ id })
    : await api.sessions.delete({ id, query: { force: "true" } });
  invocation.print(answer, [
    `${id} has ended${forGood ? " permanently" : "; it is kept for 7 days"}.`,
  ]);
  return DONE;
}

/** Names everything that ends with the session, so that nobody ends ten for one. */
async function endQuestion(api: Api, id: string, isForGood: boolean): Promise<string> {
  const [{ session }, overview] = await Promise.all([
    api.sessions.get({ id }),
    api.delegation.children({ id }),
  ]);
  const count = overview.items.filter((child) => !isOver(child)).length + overview.more;
  const children =
    count === 0
      ? ""
      : count === 1
        ? " and its 1 child session"
        : ` and its ${count} child sessions`;
  const who = session.isOrchestrator ? "your orchestrator" : safeLine(session.title ?? id);
  const kept = isForGood ? " permanently? This cannot be undone." : "? It is kept for 7 days.";
  return `End ${who}${children}${kept}`;
}

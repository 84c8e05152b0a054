/** `muster sessions steer|detach|end`: what a person does to a node of the tree. */
import { randomUUID } from "node:crypto";
import type { Command } from "commander";
import type { Prompt } from "#protocol/sessions.ts";
import { confirm } from "../confirm.ts";
import { EXIT } from "../exit-codes.ts";
import type { CliHost } from "../host.ts";
import { DONE, type Ending, type Invocation, perform } from "../invocation.ts";
import { sessionPath } from "./session-path.ts";

export function addSessionsLeadCommands(group: Command, host: CliHost): void {
  group
    .command("steer")
    .description("Cuts the turn that runs and says this instead; its work is kept.")
    .argument("<id>", "the session")
    .argument("<prompt...>", "what to say")
    .action((id: string, words: string[], _options: object, command: Command) =>
      perform(host, command, (invocation) => steer(invocation, id, words.join(" "))),
    );
  group
    .command("detach")
    .description("Takes a session out of its parent's hands; it goes on, and the parent is told.")
    .argument("<id>", "the session")
    .action((id: string, _options: object, command: Command) =>
      perform(host, command, async (invocation) => {
        const path = `${sessionPath(id)}/detach`;
        const answer = await invocation.api().call<object>(path, { method: "POST", body: {} });
        invocation.print(answer, [`${id} has no parent any more.`]);
        return DONE;
      }),
    );
  group
    .command("end")
    .description("Ends a session and its children for good.")
    .argument("<id>", "the session")
    .option("--yes", "do not ask")
    .action((id: string, options: { yes?: boolean }, command: Command) =>
      perform(host, command, (invocation) => end(invocation, id, options.yes === true)),
    );
}

async function steer(invocation: Invocation, id: string, content: string): Promise<Ending> {
  const body = { content, mode: "steer", dispatchId: randomUUID() };
  const answer = await invocation
    .api()
    .callAgain<{ prompt: Prompt }>(`${sessionPath(id)}/prompts`, { method: "POST", body });
  invocation.print(answer, [`${id} is told. See what it does with: muster chat ${id}`]);
  return DONE;
}

async function end(invocation: Invocation, id: string, isSure: boolean): Promise<Ending> {
  const { host } = invocation;
  const mustAsk = host.stdin.isTTY === true && !isSure;
  if (mustAsk && !(await confirm(host, `End ${id} and its children for good?`))) {
    invocation.note("Nothing was changed.");
    return EXIT.failed;
  }
  const path = `${sessionPath(id)}/terminate`;
  const answer = await invocation.api().callAgain<object>(path, { method: "POST", body: {} });
  invocation.print(answer, [`${id} is ended.`]);
  return DONE;
}

/** `muster sessions sleep|wake|relocate`: hibernates, wakes and moves a session. */
import type { Command } from "commander";
import { findSessionId, SESSION_ARGUMENT } from "#surfaces/cli/kit/find-session.ts";
import type { CliHost } from "#surfaces/cli/kit/host.ts";
import { DONE, type Ending, type Invocation, perform } from "#surfaces/cli/kit/invocation.ts";
import { activityWords } from "#surfaces/cli/kit/text/activity-words.ts";

interface RestCommand {
  name: string;
  action: "hibernate" | "wake" | "relocate";
  description: string;
  done: string;
}

const COMMANDS: readonly RestCommand[] = [
  {
    name: "sleep",
    action: "hibernate",
    description:
      "Put an idle session to sleep and end its background processes. The next prompt wakes it.",
    done: "sleeps",
  },
  { name: "wake", action: "wake", description: "Wake a sleeping session.", done: "is awake" },
  {
    name: "relocate",
    action: "relocate",
    description: "Continue a session on another machine when the one with its files is gone.",
    done: "continues on another machine, with the recorded changes",
  },
];

export function addSessionsRestCommands(group: Command, host: CliHost): void {
  for (const wanted of COMMANDS)
    group
      .command(wanted.name)
      .description(wanted.description)
      .argument("<session>", SESSION_ARGUMENT)
      .action((which: string, _options: object, command: Command) =>
        perform(host, command, (invocation) => act(invocation, which, wanted)),
      );
}

async function act(
  invocation: Invocation,
  which: string,
  { action, done }: RestCommand,
): Promise<Ending> {
  const api = invocation.api();
  const id = await findSessionId(api, which);
  const answer = await api.sessions[action]({ id });
  invocation.print(answer, [`${id} ${done}. It is ${activityWords(answer.session)}.`]);
  return DONE;
}

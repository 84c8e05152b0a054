import type { Command } from "commander";
import { confirm } from "#surfaces/cli/kit/confirm.ts";
import { EXIT } from "#surfaces/cli/kit/exit-codes.ts";
import { findSessionId, SESSION_ARGUMENT } from "#surfaces/cli/kit/find-session.ts";
import type { CliHost } from "#surfaces/cli/kit/host.ts";
import { DONE, type Ending, type Invocation, perform } from "#surfaces/cli/kit/invocation.ts";

interface RmOptions {
  force?: boolean;
  detach?: boolean;
  yes?: boolean;
}

export function addSessionsRmCommand(group: Command, host: CliHost): void {
  group
    .command("rm")
    .description("Archive a session. It is deleted after 7 days.")
    .argument("<session>", SESSION_ARGUMENT)
    .option("--force", "stop running turns, also of its workers")
    .option("--detach", "detach its workers instead of ending them")
    .option("--yes", "skip the question")
    .action((id: string, options: RmOptions, command: Command) =>
      perform(host, command, (invocation) => removeSession(invocation, id, options)),
    );
}

async function removeSession(
  invocation: Invocation,
  which: string,
  options: RmOptions,
): Promise<Ending> {
  const { host } = invocation;
  const api = invocation.api();
  const id = await findSessionId(api, which);
  const mustAsk = host.stdin.isTTY === true && !options.yes;
  if (mustAsk && !(await confirm(host, `Archive ${id} and delete it after 7 days?`))) {
    invocation.note("Nothing was changed.");
    return EXIT.failed;
  }
  const query = {
    ...(options.force && { force: "true" as const }),
    ...(options.detach && { children: "detach" as const }),
  };
  const answer = await api.sessions.delete({ id, query });
  invocation.print(answer, [`${id} is archived; it is deleted after 7 days.`]);
  return DONE;
}

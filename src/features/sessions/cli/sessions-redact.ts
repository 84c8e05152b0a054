import type { Command } from "commander";
import { confirm } from "#surfaces/cli/kit/confirm.ts";
import { EXIT } from "#surfaces/cli/kit/exit-codes.ts";
import { findSessionId, SESSION_ARGUMENT } from "#surfaces/cli/kit/find-session.ts";
import type { CliHost } from "#surfaces/cli/kit/host.ts";
import { DONE, type Ending, type Invocation, perform } from "#surfaces/cli/kit/invocation.ts";

export function addSessionsRedactCommand(group: Command, host: CliHost): void {
  group
    .command("redact")
    .description(
      "Remove the content of an entry permanently, also from the agent's context and the search.",
    )
    .argument("<session>", SESSION_ARGUMENT)
    .argument(
      "<entry>",
      "the id of an entry, from `sessions show --json`, or of a prompt that was withdrawn or aborted before its turn",
    )
    .option("--yes", "skip the question")
    .action((id: string, entryId: string, options: { yes?: boolean }, command: Command) =>
      perform(host, command, (invocation) => redact(invocation, id, entryId, options)),
    );
}

async function redact(
  invocation: Invocation,
  which: string,
  entryId: string,
  { yes }: { yes?: boolean },
): Promise<Ending> {
  const { host } = invocation;
  const api = invocation.api();
  const id = await findSessionId(api, which);
  const mustAsk = host.stdin.isTTY === true && !yes;
  if (
    mustAsk &&
    !(await confirm(host, `Remove the content of ${entryId}? This cannot be undone.`))
  ) {
    invocation.note("Nothing was changed.");
    return EXIT.failed;
  }
  const isPrompt = entryId.startsWith("pmt_");
  const answer = isPrompt
    ? await api.prompts.redact({ id: entryId })
    : await api.sessions.redactEntry({ id, entryId });
  invocation.print(answer, [`Removed: ${answer.redacted.join(", ")}.`]);
  return DONE;
}

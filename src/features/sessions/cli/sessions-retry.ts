import type { Command } from "commander";
import { Refusal } from "#base/refusal.ts";
import type { Api } from "#surfaces/cli/client/api.ts";
import { findSessionId, SESSION_ARGUMENT } from "#surfaces/cli/kit/find-session.ts";
import type { CliHost } from "#surfaces/cli/kit/host.ts";
import { perform } from "#surfaces/cli/kit/invocation.ts";
import { showTurn } from "./turn/show-turn.ts";

export function addSessionsRetryCommand(group: Command, host: CliHost): void {
  group
    .command("retry")
    .description("Send a prompt again whose turn failed or was stopped, and follow its turn.")
    .argument("<session>", SESSION_ARGUMENT)
    .argument("[prompt]", "the id of a prompt (default: the last settled one)")
    .action((which: string, promptId: string | undefined, _options: object, command: Command) =>
      perform(host, command, (invocation) =>
        showTurn(invocation, (api) => retry(api, which, promptId)),
      ),
    );
}

async function retry(api: Api, which: string, promptId: string | undefined) {
  const id = await findSessionId(api, which);
  const { session } = await api.again.sessions.get({ id });
  const wanted = promptId ?? (await findLast(api, id));
  // The server makes one prompt of repeated requests.
  const { prompt } = await api.again.prompts.retry({ id: wanted });
  if (prompt.state === "settled")
    throw new Refusal(
      "conflict",
      "already_retried",
      `It was already sent again, as ${prompt.id}, and that turn has ended (${prompt.outcome}). To send that one again: muster sessions retry ${session.id} ${prompt.id}`,
    );
  return { prompt, session };
}

async function findLast(api: Api, id: string): Promise<string> {
  const { items } = await api.again.prompts.list({ id, query: { state: "settled", limit: 1 } });
  const [last] = items;
  if (last) return last.id;
  throw new Refusal(
    "conflict",
    "nothing_to_retry",
    "No turn of this session has ended yet, so there is nothing to send again.",
  );
}

import type { Command } from "commander";
import { findSessionId, SESSION_ARGUMENT } from "#surfaces/cli/kit/find-session.ts";
import type { CliHost } from "#surfaces/cli/kit/host.ts";
import { DONE, perform } from "#surfaces/cli/kit/invocation.ts";

export function addSessionsStopCommand(group: Command, host: CliHost): void {
  group
    .command("stop")
    .description("Stop the running turn. Queued prompts go on.")
    .argument("<session>", SESSION_ARGUMENT)
    .action((which: string, _options: object, command: Command) =>
      perform(host, command, async (invocation) => {
        const api = invocation.api();
        const id = await findSessionId(api, which);
        const query = { state: "running,gated" };
        const running = await api.again.prompts.list({ id, query });
        // Each turn is named: a repeated request must not reach the turn after it.
        const stopped: string[] = [];
        for (const { id: promptId } of running.items) {
          const answer = await api.again.sessions.stop({ id, body: { promptId } });
          stopped.push(...answer.stopped);
        }
        const { session } = await api.again.sessions.get({ id });
        const line =
          stopped.length > 0 ? "is being stopped" : "has already ended, or none was running";
        invocation.print({ session, stopped }, [`The turn of ${id} ${line}.`]);
        return DONE;
      }),
    );
}

import type { Command } from "commander";
import type { Page } from "#protocol/page.ts";
import type { Prompt, Session } from "#protocol/sessions.ts";
import type { CliHost } from "../host.ts";
import { DONE, perform } from "../invocation.ts";
import { findSessionId } from "./find-session.ts";
import { sessionPath } from "./session-path.ts";
import { WHICH } from "./sessions-lead.ts";

export function addSessionsStopCommand(group: Command, host: CliHost): void {
  group
    .command("stop")
    .description("Ends the turn that runs; what is queued goes on.")
    .argument("<session>", WHICH)
    .action((which: string, _options: object, command: Command) =>
      perform(host, command, async (invocation) => {
        const api = invocation.api();
        const id = await findSessionId(api, which);
        const running = await api.callAgain<Page<Prompt>>(`${sessionPath(id)}/prompts`, {
          query: { state: "running,gated" },
        });
        // Each by its name: a request that is sent again must not reach the turn after it.
        const stopped: string[] = [];
        for (const { id: promptId } of running.items) {
          const answer = await api.callAgain<{ stopped: string[] }>(`${sessionPath(id)}/stop`, {
            method: "POST",
            body: { promptId },
          });
          stopped.push(...answer.stopped);
        }
        const { session } = await api.callAgain<{ session: Session }>(sessionPath(id));
        const line =
          stopped.length > 0 ? "is being ended" : "has ended already, or none was running";
        invocation.print({ session, stopped }, [`The turn of ${id} ${line}.`]);
        return DONE;
      }),
    );
}

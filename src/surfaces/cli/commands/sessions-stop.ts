import type { Command } from "commander";
import type { Session } from "#protocol/sessions.ts";
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
        const answer = await api.callAgain<{ session?: Session }>(`${sessionPath(id)}/stop`, {
          method: "POST",
          body: {},
        });
        invocation.print(answer, [`The turn of ${id} is being ended.`]);
        return DONE;
      }),
    );
}

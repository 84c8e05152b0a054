/** Relocates a child to another machine when the machine with its files is gone. */
import * as z from "zod";
import { defineTool } from "#engine/tools/index.ts";
import { relocateSession } from "#engine/workspaces/index.ts";
import { recordAgentAction } from "../notify/note.ts";
import { requireChild } from "./link.ts";

export const relocateTool = defineTool({
  name: "relocate_session",
  description:
    "Continues one of your child sessions on another machine when the machine with its files is gone. It gets a new workspace: the repository with the changes recorded at the end of its last turn. Later changes and unpushed commits are lost, so wait for the machine if it may come back soon. Refused while the machine is connected.",
  roles: ["orchestrator", "org_orchestrator", "supervisor"],
  readOnly: false,
  target: ({ sessionId }) => sessionId,
  schema: z.strictObject({
    sessionId: z.string().min(1).max(200).describe("The id of one of your child sessions."),
  }),
  async handle(work, { session }, { sessionId }) {
    const { child } = await requireChild(work, session.row.id, sessionId);
    await relocateSession(work, child);
    await recordAgentAction(work, session, "worker_relocated", sessionId);
    const next =
      "It continues as soon as a runner takes it, and knows what was lost. You are woken when its turn ends.";
    return { output: { sessionId, relocated: true, next }, error: null };
  },
});

/** Tools of a child: notify its parent, and complete the session. */
import * as z from "zod";
import { cleanText } from "#base/text/clean-text.ts";
import { listLiveRuns } from "#engine/runs/index.ts";
import { defineTool, type Tool } from "#engine/tools/index.ts";
import { COMPLETE_SESSION } from "#protocol/tools.ts";
import { completeNow } from "../notify/child-settled.ts";
import { countPendingNotices } from "../notify/inbox-queries.ts";
import { notifyParent } from "../notify/notify-parent.ts";
import { findLink } from "../queries.ts";
import { deleteCompletion, insertCompletion } from "../waits/wait-queries.ts";
import { isEnded } from "./lifecycle.ts";

const MAX_TEXT_CHARS = 32_000;
/**
 * Limit of a child's messages that its parent has not read; more of them would only get in the way.
 */
const MAX_PENDING_NOTICES = 20;
const ENOUGH = `Your parent has ${MAX_PENDING_NOTICES} unread messages from you. Continue with your task, and put the rest into your result.`;
const NOT_HEARD =
  "Your parent has archived this session and gets no more updates from it. Finish your work.";

const STILL_ASKED =
  "More was asked of you in the meantime, so the session continues. Call this again when that is done.";

const notifyParentTool = defineTool({
  name: "notify_parent",
  description:
    "Sends your parent session a message while you continue working: a finding it should know now, or a problem it can solve. The message wakes it. Do not use it for your final answer: your parent gets that when your turn ends.",
  roles: ["child"],
  readOnly: false,
  target: () => null,
  schema: z.strictObject({
    message: z.string().min(1).max(MAX_TEXT_CHARS).describe("The message."),
  }),
  async handle(work, { session, run, callId }, { message }) {
    const { id } = session.row;
    const link = await findLink(work.tx, id);
    const parent = link && (await work.session(link.parent_session_id));
    if (!link || !parent) return { output: null, error: "You no longer have a parent session." };
    if (link.is_silent === 1) return { output: null, error: NOT_HEARD };
    if ((await countPendingNotices(work.tx, parent.row.id, id)) >= MAX_PENDING_NOTICES)
      return { output: null, error: ENOUGH };
    await notifyParent(work, session, link, {
      type: "worker.notified",
      payload: { text: cleanText(message) },
      causeKey: `notified:${run.id}:${callId}`,
    });
    const when = isEnded(parent.row)
      ? "It is archived now, and reads the message when it is back."
      : "";
    const output = `Your parent will read it. ${when} Continue with your task.`.replace("  ", " ");
    return { output, error: null };
  },
});

const completeSession = defineTool({
  name: COMPLETE_SESSION,
  description:
    "Marks your task as done and ends this session. Your workspace is kept for a week, and you get no more prompts. Say in the summary what you did, what you found, and where it is. Use it once, at the very end.",
  roles: ["child", "standalone"],
  readOnly: false,
  target: () => null,
  schema: z.strictObject({
    summary: z.string().min(1).max(MAX_TEXT_CHARS).describe("The result, self-contained."),
  }),
  async handle(work, { session, run }, { summary }) {
    const { id, org_id } = session.row;
    await deleteCompletion(work.tx, id);
    // A call that needed approval may run long after its own turn has settled.
    const isOver = run.outcome !== null;
    const [live] = isOver ? await listLiveRuns(work.tx, id) : [run];
    if (!live) {
      const isDone = await completeNow(work, session, cleanText(summary));
      return isDone
        ? { output: "The session has ended.", error: null, endsTurn: true }
        : { output: STILL_ASKED, error: null };
    }
    const row = { session_id: id, org_id, run_id: live.id, summary: cleanText(summary) };
    await insertCompletion(work.tx, row);
    return { output: "The session ends with this turn.", error: null, endsTurn: true };
  },
});

export const childTools: readonly Tool[] = [notifyParentTool, completeSession];

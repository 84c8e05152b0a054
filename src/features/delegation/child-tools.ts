/** The tools of a child: to say something to its parent, and to be done. */
import * as z from "zod";
import { cleanText } from "#base/text.ts";
import { admitPrompt } from "#engine/sessions/index.ts";
import { defineTool, type Tool } from "#engine/tools/index.ts";
import { deleteCompletion, findLink, insertCompletion } from "./queries.ts";
import { quote } from "./wake-text.ts";

const MAX_TEXT_CHARS = 32_000;
const PARENT_IS_AWAY =
  "Your parent session is put away and cannot be told now. It gets your result when it is back: go on, and say everything in it.";

const notifyParent = defineTool({
  name: "notify_parent",
  description:
    "Sends your parent session a message while you go on working: a finding it should know now, a problem it can solve. It is woken by it. Do not use it for your final answer, which your parent gets when your turn ends.",
  roles: ["child"],
  readOnly: false,
  target: () => null,
  schema: z.strictObject({
    message: z.string().min(1).max(MAX_TEXT_CHARS).describe("What your parent should know."),
  }),
  async handle(work, { session, run, callId }, { message }) {
    const { id, title } = session.row;
    const link = await findLink(work.tx, id);
    const parent = link && (await work.session(link.parent_session_id));
    if (!link || !parent) return { output: null, error: "You have no parent session any more." };
    if (parent.row.lifecycle === "archived" || parent.row.lifecycle === "terminated")
      return { output: null, error: PARENT_IS_AWAY };
    await admitPrompt(work, parent, {
      id: work.ids.mint("pmt"),
      runId: work.ids.mint("run"),
      content: `[Message from child session ${JSON.stringify(title ?? id)} (${id})]\n${quote(message)}`,
      thread: link.parent_thread,
      mode: "followup",
      author: { kind: "session", id, name: title ?? id },
      origin: { channelType: "session", channelId: id, scopeKey: null, replyRef: null },
      createdBy: `session:${id}`,
      dispatchId: `notify:${run.id}:${callId}`,
      causeKey: null,
      attachments: [],
      runOptions: null,
    });
    return { output: "Your parent will read it. Go on with your task.", error: null };
  },
});

const completeSession = defineTool({
  name: "complete_session",
  description:
    "Says that your task is done and ends this session: your workspace is kept for a week, and nothing more is asked of you. Say in the summary what you did, what you found, and where it is. Use it once, at the very end.",
  roles: ["child", "standalone"],
  readOnly: false,
  target: () => null,
  schema: z.strictObject({
    summary: z.string().min(1).max(MAX_TEXT_CHARS).describe("The result, complete in itself."),
  }),
  async handle(work, { session, run }, { summary }) {
    const { id, org_id } = session.row;
    await deleteCompletion(work.tx, id);
    const row = { session_id: id, org_id, run_id: run.id, summary: cleanText(summary) };
    await insertCompletion(work.tx, row);
    return { output: "The session ends with this turn.", error: null, endsTurn: true };
  },
});

export const childTools: readonly Tool[] = [notifyParent, completeSession];

/** Notifies the assignee of an overdue task, once. */
import { localTimeText } from "#base/zoned-time.ts";
import type { TimerHandler } from "#engine/index.ts";
import { causeOf, openBoard, SYSTEM } from "../board/board.ts";
import { namedTask } from "../board-text.ts";
import { noticeForAssignee, sendBoardNotices } from "../notify.ts";
import { findTask } from "../queries.ts";
import { placeOf } from "./create-task.ts";
import { saveChanged } from "./record-changes.ts";
import { isSettled } from "./status.ts";

export const taskIsDue: TimerHandler = async (work, { subject }) => {
  const seen = await findTask(work.tx, subject);
  const session = seen && (await work.session(seen.session_id));
  if (!session) return;
  const edit = await openBoard(work, session.row, SYSTEM);
  // Read again under the board's lock.
  const task = await findTask(work.tx, subject);
  if (!task || task.due_at === null || task.overdue_told_at !== null) return;
  if (isSettled(task.status) || task.due_at > work.now) return;
  const due = new Date(task.due_at).toISOString();
  const row = { ...task, overdue_told_at: work.now };
  await saveChanged(edit, task, row, [{ field: "overdue", from: "", to: due }]);
  const dueText = localTimeText(task.due_at, await placeOf(work, session.row));
  const event = {
    event: "overdue",
    task: namedTask(row),
    status: row.status,
    due: dueText,
  } as const;
  await sendBoardNotices(work, [noticeForAssignee(row, event)], causeOf(SYSTEM));
};

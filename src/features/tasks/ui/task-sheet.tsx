import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useParams } from "@tanstack/react-router";
import { useRef, useState } from "react";
import type { TaskPage } from "#features/tasks/contract.ts";
import { api, messageOf } from "#surfaces/web/kit/api/api-client.ts";
import { keys } from "#surfaces/web/kit/api/query-keys.ts";
import { Button } from "#surfaces/web/kit/button.tsx";
import { InlineError } from "#surfaces/web/kit/field.tsx";
import { Sheet } from "#surfaces/web/kit/sheet.tsx";
import { TaskActions } from "./task-actions.tsx";
import { TaskBody } from "./task-body.tsx";
import { changeOf, draftOf, type TaskDraft } from "./task-draft.ts";
import { TaskForm } from "./task-form.tsx";
import { PriorityPill, StatusPill } from "./task-marks.tsx";
import { afterDeleting } from "./task-sheet-focus.ts";
import { useBoard, useTask } from "./use-board.ts";

/** Shows one task in full over its board. Links to other tasks open in the same sheet. */
export function TaskSheet() {
  const { taskId } = useParams({ from: "/app/board/$sessionId/$taskId" });
  const { boardId, param } = useBoard();
  const navigate = useNavigate();
  const found = useTask(boardId, taskId);
  const close = () =>
    void navigate({ to: "/board/$sessionId", params: { sessionId: param }, search: true });
  const task = found.data?.task;
  const wasDeleted = useRef(false);
  const onDeleted = () => {
    wasDeleted.current = true;
    close();
  };
  return (
    <Sheet
      title={task?.title ?? (found.data === null ? "Task not found" : "Task")}
      above={
        task && (
          <div className="mb-1 flex flex-wrap gap-1">
            <StatusPill status={task.status} />
            <PriorityPill priority={task.priority} />
          </div>
        )
      }
      onClose={close}
      focusAfter={() => (wasDeleted.current ? afterDeleting() : null)}
    >
      {found.data && <Shown key={taskId} page={found.data} onClose={onDeleted} />}
      {found.data === null && (
        <p className="text-ink-soft">It was deleted, or it is on another board.</p>
      )}
      {found.data === undefined && found.isError && (
        <div className="space-y-2">
          <InlineError>{messageOf(found.error)}</InlineError>
          <Button size="small" onClick={() => void found.refetch()}>
            Try again
          </Button>
        </div>
      )}
    </Sheet>
  );
}

function Shown({ page, onClose }: { page: TaskPage; onClose: () => void }) {
  const [isEditing, setIsEditing] = useState(false);
  if (isEditing) return <Edit page={page} onDone={() => setIsEditing(false)} />;
  return (
    <div className="space-y-5">
      <TaskActions page={page} onEdit={() => setIsEditing(true)} onClose={onClose} />
      <TaskBody page={page} />
    </div>
  );
}

function Edit({ page: { task }, onDone }: { page: TaskPage; onDone: () => void }) {
  const { boardId } = useBoard();
  const queryClient = useQueryClient();
  // Task as it was when the form opened, so that saving does not undo changes made elsewhere meanwhile.
  const [first] = useState(() => draftOf(task));
  const save = useMutation({
    mutationFn: async (draft: TaskDraft) => {
      const change = changeOf(first, draft);
      if (Object.keys(change).length > 0)
        await api.tasks.update({ id: boardId, taskId: task.id, body: change });
    },
    onSuccess: onDone,
    onSettled: () => {
      void queryClient.invalidateQueries({ queryKey: keys.board(boardId) });
      void queryClient.invalidateQueries({ queryKey: keys.task(boardId, task.id) });
    },
  });
  return (
    <TaskForm
      first={first}
      taskId={task.id}
      action="Save"
      isBusy={save.isPending}
      error={save.error}
      onSave={(draft) => save.mutate(draft)}
      onCancel={onDone}
    />
  );
}

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useRef } from "react";
import type { TaskLink } from "#features/tasks/contract.ts";
import { api } from "#surfaces/web/kit/api/api-client.ts";
import { keys } from "#surfaces/web/kit/api/query-keys.ts";
import { Modal } from "#surfaces/web/kit/dialog.tsx";
import { keepForm, readForm } from "#surfaces/web/kit/prompts/kept-form.ts";
import { randomId } from "#surfaces/web/kit/text/random-id.ts";
import { EMPTY_DRAFT, newTaskOf, type TaskDraft } from "./task-draft.ts";
import { TaskForm } from "./task-form.tsx";
import { useBoard } from "./use-board.ts";

interface NewTaskDialogProps {
  /** Parent task that the form starts with. */
  parent?: Pick<TaskLink, "id" | "title">;
  onClose: () => void;
}

export function NewTaskDialog({ parent, onClose }: NewTaskDialogProps) {
  const { boardId } = useBoard();
  const queryClient = useQueryClient();
  // The key makes a repeated request, sent after a lost answer, create the same task.
  const sent = useRef({ text: "", key: randomId() });
  // Drafts are kept when the dialog is closed without sending.
  const kept = `new task:${boardId}:${parent?.id ?? ""}`;
  const drop = () => {
    keepForm(kept, null);
    onClose();
  };
  const create = useMutation({
    mutationFn: (draft: TaskDraft) => {
      const body = newTaskOf(draft);
      const text = JSON.stringify(body);
      if (text !== sent.current.text) sent.current = { text, key: randomId() };
      return api.tasks.create({ id: boardId, body }, { idempotencyKey: sent.current.key });
    },
    onSuccess: drop,
    onSettled: () => {
      void queryClient.invalidateQueries({ queryKey: keys.board(boardId) });
      if (parent) void queryClient.invalidateQueries({ queryKey: keys.task(boardId, parent.id) });
    },
  });
  return (
    <Modal isOpen title={parent ? "New subtask" : "New task"} onClose={onClose}>
      <TaskForm
        first={readForm(kept, { ...EMPTY_DRAFT, parent: parent ?? null })}
        taskId={null}
        action="Create task"
        isBusy={create.isPending}
        error={create.error}
        onType={(draft) => keepForm(kept, draft)}
        onSave={(draft) => create.mutate(draft)}
        onCancel={drop}
      />
    </Modal>
  );
}

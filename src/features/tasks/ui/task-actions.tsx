/** Actions on a task: status, assignee and deletion. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Check, OctagonPause, Pencil, Play, RotateCcw, Trash2, X } from "lucide-react";
import { type FormEvent, type KeyboardEvent, useState } from "react";
import type { TaskChange, TaskPage } from "#features/tasks/contract.ts";
import { api, messageOf } from "#surfaces/web/kit/api/api-client.ts";
import { keys } from "#surfaces/web/kit/api/query-keys.ts";
import { Button, IconButton } from "#surfaces/web/kit/button.tsx";
import { Confirm } from "#surfaces/web/kit/dialog.tsx";
import { TextArea } from "#surfaces/web/kit/field.tsx";
import { OWN_ESCAPE } from "#surfaces/web/kit/sheet.tsx";
import { plural } from "#surfaces/web/kit/text/money-words.ts";
import { useToasts } from "#surfaces/web/kit/toast.tsx";
import { deletionWords, isSettled, unblockedWords, withNames } from "./board-words.ts";
import { Assignee } from "./task-form.tsx";
import { useBoard } from "./use-board.ts";
import { useNames } from "./use-names.ts";

/** Actions that ask for a comment first. */
type ActionWithComment = "complete" | "fail" | "block";

const QUESTIONS: Record<ActionWithComment, { label: string; hint: string; action: string }> = {
  complete: { label: "Result", hint: "optional", action: "Complete" },
  fail: { label: "Reason", hint: "optional", action: "Mark as failed" },
  block: { label: "Reason", hint: "", action: "Block" },
};

interface TaskActionsProps {
  page: TaskPage;
  onEdit: () => void;
  onClose: () => void;
}

export function TaskActions({ page, onEdit, onClose }: TaskActionsProps) {
  const { task } = page;
  const [openAction, setOpenAction] = useState<ActionWithComment | null>(null);
  const change = useTaskChange(page);
  const names = useNames(task.id);
  const ask = (what: ActionWithComment) => {
    change.reset();
    setOpenAction(openAction === what ? null : what);
  };
  const set = (status: TaskChange["status"]) => {
    setOpenAction(null);
    change.mutate({ status });
  };
  const isOver = isSettled(task.status);
  const mayBegin = task.status === "pending";
  const isBlockedByHand = task.status === "blocked" && task.blockedReason !== null;
  return (
    <div className="space-y-3">
      <div className="flex flex-wrap gap-1.5">
        {isOver && (
          <Button disabled={change.isPending} onClick={() => set("pending")}>
            <RotateCcw size={15} aria-hidden />
            Reopen
          </Button>
        )}
        {mayBegin && (
          <Button disabled={change.isPending} onClick={() => set("in_progress")}>
            <Play size={15} aria-hidden />
            Start
          </Button>
        )}
        {isBlockedByHand && (
          <Button disabled={change.isPending} onClick={() => set("pending")}>
            <Play size={15} aria-hidden />
            Unblock
          </Button>
        )}
        {!isOver && (
          <>
            <Button
              look="primary"
              aria-expanded={openAction === "complete"}
              onClick={() => ask("complete")}
            >
              <Check size={15} aria-hidden />
              Complete…
            </Button>
            <Button aria-expanded={openAction === "block"} onClick={() => ask("block")}>
              <OctagonPause size={15} aria-hidden />
              {isBlockedByHand ? "Edit reason…" : "Block…"}
            </Button>
            <Button aria-expanded={openAction === "fail"} onClick={() => ask("fail")}>
              <X size={15} aria-hidden />
              Mark as failed…
            </Button>
          </>
        )}
        <div className="ml-auto flex">
          <IconButton label="Edit" onClick={onEdit}>
            <Pencil size={16} aria-hidden />
          </IconButton>
          <Delete page={page} onDeleted={onClose} />
        </div>
      </div>
      {openAction !== null && (
        <Question
          key={openAction}
          openAction={openAction}
          first={openAction === "block" ? (task.blockedReason ?? "") : (task.result ?? "")}
          isBusy={change.isPending}
          onCancel={() => setOpenAction(null)}
          onAnswer={(text) => {
            const result = text.trim() === "" ? {} : { result: text };
            const body: Record<ActionWithComment, TaskChange> = {
              complete: { status: "completed", ...result },
              fail: { status: "failed", ...result },
              block: { status: "blocked", blockedReason: text },
            };
            change.mutate(body[openAction], { onSuccess: () => setOpenAction(null) });
          }}
        />
      )}
      {change.isError && (
        <p
          role="alert"
          className="rounded-lg bg-bad-soft px-3 py-2 text-sm break-words whitespace-pre-wrap text-bad"
        >
          {withNames(messageOf(change.error), names)}
        </p>
      )}
      <p
        role="status"
        className="rounded-lg bg-accent-soft px-3 py-2 [overflow-wrap:anywhere] empty:hidden"
      >
        {unblockedWords(change.data?.unblocked ?? [])}
      </p>
      <Assignee
        value={task.sessionId ?? ""}
        known={task.sessionTitle}
        isDisabled={change.isPending}
        onChange={(id) => change.mutate({ sessionId: id === "" ? null : id })}
      />
    </div>
  );
}

function useTaskChange({ task }: TaskPage) {
  const { boardId } = useBoard();
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: (change: TaskChange) =>
      api.tasks.update({ id: boardId, taskId: task.id, body: change }),
    onSettled: () =>
      // Buttons stay disabled until the current task is loaded.
      Promise.all([
        queryClient.invalidateQueries({ queryKey: keys.board(boardId) }),
        queryClient.invalidateQueries({ queryKey: keys.task(boardId, task.id) }),
      ]),
  });
}

interface QuestionProps {
  openAction: ActionWithComment;
  first: string;
  isBusy: boolean;
  onAnswer: (text: string) => void;
  onCancel: () => void;
}

function Question({ openAction, first, isBusy, onAnswer, onCancel }: QuestionProps) {
  const { label, hint, action } = QUESTIONS[openAction];
  const [text, setText] = useState(first);
  const isReady = !isBusy && (openAction !== "block" || text.trim() !== "");
  const submit = (event?: FormEvent) => {
    event?.preventDefault();
    if (isReady) onAnswer(text);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Enter" && (event.metaKey || event.ctrlKey)) submit();
    if (event.key === "Escape") onCancel();
  };
  return (
    <form
      aria-label={action}
      {...OWN_ESCAPE}
      className="space-y-2 rounded-xl border border-line bg-panel p-3"
      onSubmit={submit}
      onKeyDown={onKeyDown}
    >
      <TextArea
        label={label}
        hint={hint}
        autoFocus
        rows={3}
        value={text}
        onChange={({ target }) => setText(target.value)}
      />
      <div className="flex justify-end gap-2">
        <Button size="small" onClick={onCancel}>
          Cancel
        </Button>
        <Button size="small" type="submit" look="primary" disabled={!isReady}>
          {action}
        </Button>
      </div>
    </form>
  );
}

function Delete({ page, onDeleted }: { page: TaskPage; onDeleted: () => void }) {
  const { task } = page;
  const { boardId } = useBoard();
  const queryClient = useQueryClient();
  const toasts = useToasts();
  const [isAsking, setIsAsking] = useState(false);
  const remove = useMutation({
    mutationFn: () => api.tasks.delete({ id: boardId, taskId: task.id }),
    onSuccess: ({ deleted }) => {
      onDeleted();
      const parts = deleted.length - 1;
      toasts.show(
        `“${task.title}” deleted`,
        parts > 0 ? `${plural(parts, "subtask")} deleted with it.` : undefined,
      );
    },
    onError: (error) => toasts.fail("Couldn't delete the task", error),
    onSettled: () => {
      setIsAsking(false);
      void queryClient.invalidateQueries({ queryKey: keys.board(boardId) });
    },
  });
  return (
    <>
      <IconButton label="Delete" onClick={() => setIsAsking(true)}>
        <Trash2 size={16} aria-hidden />
      </IconButton>
      <Confirm
        isOpen={isAsking}
        onClose={() => setIsAsking(false)}
        title={`Delete “${task.title}”?`}
        text={deletionWords(page)}
        action="Delete"
        isBusy={remove.isPending}
        onConfirm={() => remove.mutate()}
      />
    </>
  );
}

/** Form fields of a task, for creating and editing. */
import { clsx } from "clsx";
import { type FormEvent, type KeyboardEvent, useState } from "react";
import type { TaskCheck, TaskPriority } from "#features/tasks/contract.ts";
import { ApiError, messageOf } from "#surfaces/web/kit/api/api-client.ts";
import { Button } from "#surfaces/web/kit/button.tsx";
import { InlineError, SelectField, TextArea, TextField } from "#surfaces/web/kit/field.tsx";
import { focusOnMount } from "#surfaces/web/kit/hooks/focus-on-mount.ts";
import { OWN_ESCAPE } from "#surfaces/web/kit/sheet.tsx";
import { withNames } from "./board-words.ts";
import { EMPTY_DRAFT, missingIn, type TaskDraft } from "./task-draft.ts";
import { BlockerPicker, ParentPicker } from "./task-picker.tsx";
import { useAssignees } from "./use-board.ts";
import { useNames } from "./use-names.ts";

const MAX_TITLE_CHARS = 300;
const PRIORITIES: readonly { priority: TaskPriority; name: string }[] = [
  { priority: "urgent", name: "Urgent" },
  { priority: "high", name: "High" },
  { priority: "normal", name: "Normal" },
  { priority: "low", name: "Low" },
];

/** Refusal codes that are shown at the blockers field. */
const ABOUT_BLOCKERS: ReadonlySet<string> = new Set(["dependency_cycle", "blocker_not_found"]);

interface TaskFormProps {
  first: TaskDraft;
  /** Null for a new task. */
  taskId: string | null;
  action: string;
  isBusy: boolean;
  error: Error | null;
  /** Called with the draft at every change. */
  onType?: (draft: TaskDraft) => void;
  onSave: (draft: TaskDraft) => void;
  onCancel: () => void;
}

export function TaskForm(props: TaskFormProps) {
  const { first, taskId, action, isBusy, error, onType, onSave, onCancel } = props;
  const [draft, setDraft] = useState(first);
  const set = (change: Partial<TaskDraft>) => {
    const next = { ...draft, ...change };
    setDraft(next);
    onType?.(next);
  };
  const names = useNames(taskId);
  const refusal = error === null ? undefined : withNames(messageOf(error), names);
  const isAboutBlockers =
    error instanceof ApiError &&
    ABOUT_BLOCKERS.has(error.code) &&
    JSON.stringify(draft.blockers) !== JSON.stringify(first.blockers);
  const isTyped = JSON.stringify({ ...draft, parent: null }) !== JSON.stringify(EMPTY_DRAFT);
  const isReady = missingIn(draft) === null && !isBusy;
  const submit = (event?: FormEvent) => {
    event?.preventDefault();
    if (isReady) onSave(draft);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Enter" && (event.metaKey || event.ctrlKey)) submit();
    // Dialogs handle Escape themselves, and keep the draft.
    if (event.key === "Escape" && taskId !== null) onCancel();
  };
  return (
    <form
      aria-label={taskId === null ? "New task" : "Edit task"}
      {...OWN_ESCAPE}
      className="space-y-3.5"
      onSubmit={submit}
      onKeyDown={onKeyDown}
    >
      <TextField
        label="Title"
        // Dialogs set the focus themselves; in a sheet the form is mounted later.
        {...(taskId === null ? { "data-autofocus": true } : { ref: focusOnMount })}
        required
        maxLength={MAX_TITLE_CHARS}
        value={draft.title}
        onChange={({ target }) => set({ title: target.value })}
      />
      <TextArea
        label="Description"
        hint="what the assignee needs to know"
        rows={4}
        value={draft.description}
        onChange={({ target }) => set({ description: target.value })}
      />
      <div className="grid gap-3.5 sm:grid-cols-2">
        <Assignee value={draft.sessionId} onChange={(sessionId) => set({ sessionId })} />
        <SelectField
          label="Priority"
          value={draft.priority}
          onChange={({ target }) => set({ priority: target.value as TaskPriority })}
        >
          {PRIORITIES.map(({ priority, name }) => (
            <option key={priority} value={priority}>
              {name}
            </option>
          ))}
        </SelectField>
        <TextField
          label="Due"
          type="datetime-local"
          value={draft.due}
          onChange={({ target }) => set({ due: target.value })}
        />
        <TextField
          label="Labels"
          hint="separated by commas"
          value={draft.labels}
          onChange={({ target }) => set({ labels: target.value })}
        />
      </div>
      <BlockerPicker
        chosen={draft.blockers}
        taskId={taskId}
        problem={isAboutBlockers ? refusal : undefined}
        onChange={(blockers) => set({ blockers })}
      />
      <ParentPicker parent={draft.parent} taskId={taskId} onChange={(parent) => set({ parent })} />
      <CheckFields draft={draft} onChange={set} />
      {refusal !== undefined && !isAboutBlockers && <InlineError>{refusal}</InlineError>}
      <div
        className={clsx(
          "flex justify-end gap-2",
          // Buttons stay visible in a dialog that is taller than the window.
          taskId === null && "sticky bottom-0 -mx-5 -mb-5 border-t border-line bg-raised px-5 py-3",
        )}
      >
        <Button onClick={onCancel}>{taskId === null && isTyped ? "Discard" : "Cancel"}</Button>
        <Button type="submit" look="primary" disabled={!isReady}>
          {action}
        </Button>
      </div>
    </form>
  );
}

interface AssigneeProps {
  value: string;
  onChange: (sessionId: string) => void;
  isDisabled?: boolean;
  /** Name of an assignee that is no longer on offer. */
  known?: string | null;
}

export function Assignee({ value, onChange, isDisabled = false, known = null }: AssigneeProps) {
  const offered = useAssignees();
  const isOffered = value === "" || offered.some(({ id }) => id === value);
  return (
    <SelectField
      label="Assignee"
      value={value}
      disabled={isDisabled}
      onChange={({ target }) => onChange(target.value)}
    >
      <option value="">Unassigned</option>
      {offered.map(({ id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
      {!isOffered && <option value={value}>{known ?? "A session that has ended"}</option>}
    </SelectField>
  );
}

interface CheckFieldsProps {
  draft: TaskDraft;
  onChange: (change: Partial<TaskDraft>) => void;
}

function CheckFields({ draft: { check, command, exitCode }, onChange }: CheckFieldsProps) {
  return (
    <div className="space-y-2">
      <SelectField
        label="Check"
        hint="must pass before the task can be completed"
        value={check}
        onChange={({ target }) => onChange({ check: target.value as "none" | TaskCheck["kind"] })}
      >
        <option value="none">None</option>
        <option value="command">Command succeeds</option>
        <option value="pull_request">Pull request opened</option>
      </SelectField>
      {check === "command" && (
        <div className="grid gap-2 sm:grid-cols-[1fr_7rem]">
          <TextField
            label="Command"
            required
            className="font-mono"
            placeholder="npm test"
            value={command}
            onChange={({ target }) => onChange({ command: target.value })}
          />
          <TextField
            label="Exit code"
            type="number"
            min={0}
            max={125}
            placeholder="0"
            value={exitCode}
            onChange={({ target }) => onChange({ exitCode: target.value })}
          />
        </div>
      )}
    </div>
  );
}

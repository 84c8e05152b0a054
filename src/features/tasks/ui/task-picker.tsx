/** Picker for other open tasks of the board. */
import { X } from "lucide-react";
import { useState } from "react";
import type { TaskLink } from "#features/tasks/contract.ts";
import { Button } from "#surfaces/web/kit/button.tsx";
import { SelectField, TextField } from "#surfaces/web/kit/field.tsx";
import { shortTitle } from "./board-words.ts";
import { useBoard, useOpenTasks } from "./use-board.ts";

type Named = Pick<TaskLink, "id" | "title">;
const SHOWN_CHARS = 80;

interface BlockerPickerProps {
  chosen: readonly Named[];
  /** Task being edited, which cannot wait for itself. */
  taskId: string | null;
  /** The server's refusal. */
  problem: string | undefined;
  onChange: (chosen: readonly Named[]) => void;
}

export function BlockerPicker({ chosen, taskId, problem, onChange }: BlockerPickerProps) {
  const open = useOpenTasks(useBoard().boardId).data;
  const taken = new Set([taskId, ...chosen.map(({ id }) => id)]);
  const offered = (open?.items ?? []).filter(({ id }) => !taken.has(id));
  const add = (id: string) => {
    const task = offered.find((one) => one.id === id) ?? { id, title: id };
    if (id !== "" && !taken.has(id)) onChange([...chosen, task]);
  };
  return (
    <fieldset className="space-y-2">
      <SelectField
        label="Blocked by"
        hint="must be completed first"
        value=""
        aria-invalid={problem !== undefined}
        disabled={offered.length === 0}
        onChange={({ target }) => add(target.value)}
      >
        <option value="">{offered.length === 0 ? "No other open tasks" : "Add a task…"}</option>
        {offered.map(({ id, title }) => (
          <option key={id} value={id}>
            {shortTitle(title, SHOWN_CHARS)}
          </option>
        ))}
      </SelectField>
      {open && open.next !== null && <ById onAdd={add} />}
      {chosen.length > 0 && (
        <ul aria-label="Blocked by" className="flex flex-wrap gap-1.5">
          {chosen.map(({ id, title }) => (
            <li
              key={id}
              className="flex max-w-full items-center gap-1 rounded-lg bg-hover py-0.5 pr-0.5 pl-2.5 text-xs"
            >
              <span className="truncate">{title}</span>
              <button
                type="button"
                aria-label={`Remove blocker ${title}`}
                onClick={() => onChange(chosen.filter((one) => one.id !== id))}
                className="grid size-6 shrink-0 place-items-center rounded-md text-ink-faint hover:bg-line hover:text-ink max-md:size-8"
              >
                <X size={13} aria-hidden />
              </button>
            </li>
          ))}
        </ul>
      )}
      {problem !== undefined && (
        <p role="alert" className="text-xs [overflow-wrap:anywhere] text-bad">
          {problem}
        </p>
      )}
    </fieldset>
  );
}

/** Adds a task by id, on a board with more open tasks than the picker lists. */
function ById({ onAdd }: { onAdd: (id: string) => void }) {
  const [id, setId] = useState("");
  const add = () => {
    onAdd(id.trim());
    setId("");
  };
  return (
    <div className="flex items-end gap-2">
      <div className="min-w-0 flex-1">
        <TextField
          label="Or enter a task ID"
          hint="the list shows the first 200 open tasks"
          placeholder="tsk_…"
          value={id}
          onChange={({ target }) => setId(target.value)}
          onKeyDown={(event) => {
            if (event.key !== "Enter") return;
            event.preventDefault();
            add();
          }}
        />
      </div>
      <Button disabled={id.trim() === ""} onClick={add}>
        Add
      </Button>
    </div>
  );
}

interface ParentPickerProps {
  parent: Named | null;
  taskId: string | null;
  onChange: (parent: Named | null) => void;
}

export function ParentPicker({ parent, taskId, onChange }: ParentPickerProps) {
  const open = useOpenTasks(useBoard().boardId).data?.items ?? [];
  const offered: Named[] = open.filter(({ id }) => id !== taskId && id !== parent?.id);
  if (parent) offered.unshift(parent);
  return (
    <SelectField
      label="Parent task"
      value={parent?.id ?? ""}
      onChange={({ target }) => onChange(offered.find(({ id }) => id === target.value) ?? null)}
    >
      <option value="">None</option>
      {offered.map(({ id, title }) => (
        <option key={id} value={id}>
          {shortTitle(title, SHOWN_CHARS)}
        </option>
      ))}
    </SelectField>
  );
}

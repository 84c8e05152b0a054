import { clsx } from "clsx";
import { Circle, CircleCheck, CircleDot } from "lucide-react";
import type { ReactNode } from "react";
import { CallInFull } from "#features/approvals/ui/call-in-full.tsx";
import type { DiffLine } from "#surfaces/web/kit/text/diff.ts";
import { DiffView } from "#surfaces/web/kit/text/diff-view.tsx";
import { Verbatim } from "#surfaces/web/kit/text/verbatim.tsx";
import type { ToolUse } from "../transcript/entry-from-event.ts";
import { type TodoItem, type ToolState, todoItems } from "./tool-view.ts";
import { asText, withoutColours } from "./tool-words.ts";

/** Lines of a change that are shown before it is expanded. */
const PREVIEW_LINES = 12;

interface ToolBodyProps {
  use: ToolUse;
  state: ToolState;
  change: DiffLine[] | undefined;
}

/** Shows a call and its result in the way that suits its tool. */
export function ToolBody({ use, state, change }: ToolBodyProps) {
  const problem = <Problem use={use} state={state} />;
  if (change && change.length > 0)
    return (
      <div>
        <DiffView lines={change} label="Change" first={PREVIEW_LINES} hasNumbers={false} />
        {use.error !== null && <div className="border-t border-line p-3">{problem}</div>}
      </div>
    );
  const todo = use.name === "todo" ? todoItems(use.input) : [];
  if (todo.length > 0) return <Checklist items={todo} />;
  return (
    <div className="space-y-2.5 p-3">
      <CallInFull tool={use.name} input={use.input} />
      {problem}
      <Part
        label="Output"
        note={use.truncated ? "shortened; the agent can read the rest" : undefined}
        text={withoutColours(asText(use.output))}
      />
      {use.exitCode !== null && (
        <p className={clsx("text-2xs", use.exitCode === 0 ? "text-ink-faint" : "text-bad")}>
          Exit code {use.exitCode}
        </p>
      )}
    </div>
  );
}

function Problem({ use, state }: { use: ToolUse; state: ToolState }) {
  if (state === "interrupted")
    return (
      <p className="rounded-md bg-warn-soft px-2.5 py-2 text-xs text-warn">
        The runner was lost during this call. It may or may not have taken effect, and is not
        repeated automatically.
      </p>
    );
  const words = use.error ?? (state === "denied" ? (use.verdict?.reason ?? null) : null);
  if (words === null) return null;
  const label = state === "denied" ? "Why it was denied" : "Error";
  return <Part label={label} text={words} isBad />;
}

interface PartProps {
  label: string;
  text: string;
  note?: ReactNode;
  isBad?: boolean;
}

function Part({ label, text, note, isBad = false }: PartProps) {
  if (text === "") return null;
  return (
    <div>
      <p className="mb-1 text-2xs font-medium text-ink-faint">
        {label}
        {note && <span className="font-normal text-warn"> · {note}</span>}
      </p>
      <Verbatim text={text} label={label} tone={isBad ? "bad" : "plain"} />
    </div>
  );
}

const BOXES: Record<TodoItem["state"], ReactNode> = {
  pending: <Circle size={14} aria-label="to do" className="mt-0.5 shrink-0 text-ink-faint" />,
  in_progress: (
    <CircleDot size={14} aria-label="in progress" className="mt-0.5 shrink-0 text-warn" />
  ),
  done: <CircleCheck size={14} aria-label="done" className="mt-0.5 shrink-0 text-accent" />,
};

function Checklist({ items }: { items: readonly TodoItem[] }) {
  return (
    <ul className="space-y-1 px-3 py-2.5 text-[0.8125rem]">
      {items.map((item, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: items have no id, only a position
        <li key={at} className="flex gap-2">
          {BOXES[item.state] ?? BOXES.pending}
          <span
            className={clsx(
              "min-w-0 break-words",
              item.state === "done" && "text-ink-faint line-through",
              item.state === "in_progress" && "font-medium",
            )}
          >
            {item.text}
          </span>
        </li>
      ))}
    </ul>
  );
}

/** Shared parts of all settings pages. */
import { Copy, Trash2 } from "lucide-react";
import { type ReactNode, useRef, useState } from "react";
import { ApiError, messageOf } from "#surfaces/web/kit/api/api-client.ts";
import { Button, IconButton } from "#surfaces/web/kit/button.tsx";
import { Confirm } from "#surfaces/web/kit/dialog.tsx";
import { InlineError } from "#surfaces/web/kit/field.tsx";

interface SectionProps {
  title: string;
  text?: ReactNode;
  aside?: ReactNode;
  children: ReactNode;
}

export function Section({ title, text, aside, children }: SectionProps) {
  return (
    <section aria-label={title} className="space-y-2">
      <div className="flex flex-wrap items-center gap-2">
        <div className="min-w-0 flex-1 basis-48">
          <h2 className="font-semibold">{title}</h2>
          {text && <p className="text-xs text-ink-faint">{text}</p>}
        </div>
        {aside}
      </div>
      {children}
    </section>
  );
}

interface ListProps<T> {
  found: { data: readonly T[] | undefined; error: Error | null; refetch: () => unknown };
  /** Text for an empty list. */
  empty: string;
  children: (item: T) => ReactNode;
}

/** Shows the items of a query, or why there are none. */
export function List<T>({ found, empty, children }: ListProps<T>) {
  if (found.error) return <LoadProblem error={found.error} onRetry={() => void found.refetch()} />;
  if (found.data === undefined) return <p className="text-ink-faint">Loading…</p>;
  if (found.data.length === 0) return <Empty>{empty}</Empty>;
  return (
    <ul className="divide-y divide-line overflow-hidden rounded-xl border border-line bg-raised">
      {found.data.map(children)}
    </ul>
  );
}

export function LoadProblem({ error, onRetry }: { error: Error; onRetry: () => void }) {
  if (error instanceof ApiError && error.status === 404)
    return <Empty>Nothing here, or this server doesn't support it.</Empty>;
  if (error instanceof ApiError && error.status === 403)
    return <Empty>You don't have access. Ask an admin.</Empty>;
  return (
    <div className="space-y-2">
      <InlineError>{messageOf(error)}</InlineError>
      <Button size="small" onClick={onRetry}>
        Try again
      </Button>
    </div>
  );
}

function Empty({ children }: { children: ReactNode }) {
  return (
    <p className="rounded-xl border border-dashed border-line-strong px-4 py-8 text-center text-ink-soft">
      {children}
    </p>
  );
}

interface RowProps {
  name: ReactNode;
  /** Text under the name. */
  text?: ReactNode;
  problem?: string | null;
  /** Actions at the right. */
  children?: ReactNode;
  /** Content below, over the whole width. */
  more?: ReactNode;
}

export function Row({ name, text, problem, children, more }: RowProps) {
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-1.5 py-2.5 pr-2 pl-3.5">
      <div className="min-w-0 flex-1 basis-56">
        <div className="font-medium [overflow-wrap:anywhere]">{name}</div>
        {text && <div className="text-xs [overflow-wrap:anywhere] text-ink-faint">{text}</div>}
        {problem && <p className="text-xs [overflow-wrap:anywhere] text-warn">{problem}</p>}
      </div>
      {children && <div className="flex flex-wrap items-center gap-1.5">{children}</div>}
      {more}
    </li>
  );
}

export function Badge({ children }: { children: ReactNode }) {
  return (
    <span className="ml-2 rounded-full bg-accent-soft px-2 py-0.5 text-2xs font-medium text-accent">
      {children}
    </span>
  );
}

interface RemoveProps {
  /** Label of the button and the question, such as "Delete Reviewer". */
  label: string;
  text: string;
  action?: string;
  isBusy: boolean;
  onConfirm: () => void;
}

/** Delete button that asks for confirmation. */
export function Remove({ label, text, action = "Delete", isBusy, onConfirm }: RemoveProps) {
  const [isAsking, setIsAsking] = useState(false);
  return (
    <>
      <IconButton size="small" label={label} disabled={isBusy} onClick={() => setIsAsking(true)}>
        <Trash2 size={15} aria-hidden />
      </IconButton>
      <Confirm
        isOpen={isAsking}
        onClose={() => setIsAsking(false)}
        title={`${label}?`}
        text={text}
        action={action}
        isBusy={isBusy}
        onConfirm={() => {
          setIsAsking(false);
          onConfirm();
        }}
      />
    </>
  );
}

interface ShownOnceProps {
  label: string;
  value: string;
  onDone: () => void;
}

/** Shows a value that the server will never return again. */
export function ShownOnce({ label, value, onDone }: ShownOnceProps) {
  const field = useRef<HTMLInputElement>(null);
  const [copyStatus, setCopyStatus] = useState("");
  const copy = async () => {
    field.current?.select();
    try {
      await navigator.clipboard.writeText(value);
      setCopyStatus("Copied.");
    } catch {
      // Browsers allow the clipboard on secure pages only; the text is selected in any case.
      setCopyStatus("Press Ctrl+C to copy it.");
    }
  };
  return (
    <div className="space-y-2 rounded-xl border border-accent/40 bg-accent-soft p-3.5">
      <p className="font-medium">{label} is shown only once. Copy it now.</p>
      <div className="flex flex-wrap gap-2">
        <input
          ref={field}
          readOnly
          aria-label={label}
          value={value}
          onFocus={(event) => event.target.select()}
          className="h-9 min-w-0 flex-1 basis-48 rounded-lg border border-line-strong bg-page px-3 font-mono text-xs"
        />
        <Button onClick={() => void copy()}>
          <Copy size={15} aria-hidden />
          Copy
        </Button>
        <Button look="ghost" onClick={onDone}>
          Done
        </Button>
      </div>
      <p role="status" className="text-xs text-ink-soft">
        {copyStatus}
      </p>
    </div>
  );
}

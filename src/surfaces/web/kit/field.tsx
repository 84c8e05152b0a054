import { clsx } from "clsx";
import { type ComponentProps, type ReactNode, useId } from "react";

const CONTROL =
  "w-full rounded-lg border border-line-strong bg-page px-3 text-ink outline-none focus:border-accent focus:ring-2 focus:ring-accent/25 max-sm:text-base";

interface LabelledProps {
  label: string;
  hint?: ReactNode;
}

interface RefusableProps extends LabelledProps {
  /** Reason why the value is not accepted. */
  problem?: string | undefined;
}

export function TextField({
  label,
  hint,
  problem,
  className,
  ...rest
}: RefusableProps & ComponentProps<"input">) {
  const id = useId();
  const problemId = useId();
  return (
    <div>
      <FieldLabel id={id} label={label} hint={hint} />
      <input
        id={id}
        aria-invalid={problem !== undefined}
        aria-describedby={problem === undefined ? undefined : problemId}
        className={clsx(CONTROL, "h-9", problem !== undefined && "!border-bad", className)}
        {...rest}
      />
      <Problem id={problemId} problem={problem} />
    </div>
  );
}

export function TextArea({
  label,
  hint,
  problem,
  className,
  ...rest
}: RefusableProps & ComponentProps<"textarea">) {
  const id = useId();
  const problemId = useId();
  return (
    <div>
      <FieldLabel id={id} label={label} hint={hint} />
      <textarea
        id={id}
        aria-invalid={problem !== undefined}
        aria-describedby={problem === undefined ? undefined : problemId}
        className={clsx(
          CONTROL,
          "min-h-24 resize-y py-2",
          problem !== undefined && "!border-bad",
          className,
        )}
        {...rest}
      />
      <Problem id={problemId} problem={problem} />
    </div>
  );
}

export function SelectField({
  label,
  hint,
  className,
  ...rest
}: LabelledProps & ComponentProps<"select">) {
  const id = useId();
  return (
    <div>
      <FieldLabel id={id} label={label} hint={hint} />
      <select id={id} className={clsx(CONTROL, "h-9 pr-8", className)} {...rest} />
    </div>
  );
}

function Problem({ id, problem }: { id: string; problem: string | undefined }) {
  if (problem === undefined) return null;
  return (
    <p id={id} role="alert" className="mt-1 text-xs break-words text-bad">
      {problem}
    </p>
  );
}

function FieldLabel({ id, label, hint }: { id: string; label: string; hint?: ReactNode }) {
  return (
    <label
      htmlFor={id}
      className="mb-1 flex items-baseline gap-2 text-xs font-medium text-ink-soft"
    >
      {label}
      {hint && <span className="font-normal text-ink-faint">{hint}</span>}
    </label>
  );
}

export function InlineError({ children }: { children: ReactNode }) {
  return (
    <p role="alert" className="rounded-lg bg-bad-soft px-3 py-2 text-sm break-words text-bad">
      {children}
    </p>
  );
}

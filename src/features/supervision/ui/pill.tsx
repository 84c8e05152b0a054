import { clsx } from "clsx";
import type { ReactNode } from "react";
import type { Tone } from "./event-words.ts";

const TONES: Record<Tone | "accent", string> = {
  accent: "bg-accent-soft text-accent",
  good: "bg-add text-good",
  bad: "bg-bad-soft text-bad",
  warn: "bg-warn-soft text-warn",
  plain: "bg-hover text-ink-soft",
};

interface PillProps {
  tone: Tone | "accent";
  className?: string;
  children: ReactNode;
}

export function Pill({ tone, className, children }: PillProps) {
  return (
    <span
      className={clsx(
        "inline-block shrink-0 rounded-full px-2 py-0.5 text-2xs font-medium whitespace-nowrap",
        TONES[tone],
        className,
      )}
    >
      {children}
    </span>
  );
}

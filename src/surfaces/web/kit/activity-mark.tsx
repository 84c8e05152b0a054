import { clsx } from "clsx";
import type { Activity } from "#protocol/sessions.ts";

const ACTIVITY_WORDS: Record<Activity, string> = {
  working: "Working",
  needs_you: "Needs you",
  waiting: "Waiting",
  done: "Done",
  idle: "Idle",
  asleep: "Asleep",
  recovering: "Recovering",
  failed: "Failed",
  unknown: "Unknown",
};

const DOTS: Record<Activity, string> = {
  working: "bg-accent animate-breathe",
  needs_you: "bg-warn",
  waiting: "border-[1.5px] border-accent",
  done: "bg-good",
  idle: "border-[1.5px] border-line-strong",
  asleep: "bg-line-strong",
  recovering: "border-[1.5px] border-warn animate-breathe",
  failed: "bg-bad",
  unknown: "border-[1.5px] border-dashed border-ink-faint",
};

const WORD_COLOURS: Partial<Record<Activity, string>> = {
  working: "text-accent",
  needs_you: "text-warn",
  recovering: "text-warn",
  failed: "text-bad",
};

export function activityWord(activity: Activity): string {
  return ACTIVITY_WORDS[activity] ?? activity;
}

export function ActivityDot({ activity, className }: { activity: Activity; className?: string }) {
  return (
    <span
      aria-hidden
      className={clsx("inline-block size-2 shrink-0 rounded-full", DOTS[activity], className)}
    />
  );
}

interface ActivityLabelProps {
  activity: Activity;
  /** Replaces the activity's text when more is known. */
  words?: string | undefined;
}

export function ActivityLabel({ activity, words }: ActivityLabelProps) {
  return (
    <span
      className={clsx(
        "inline-flex items-center gap-1.5",
        WORD_COLOURS[activity] ?? "text-ink-soft",
      )}
    >
      <ActivityDot activity={activity} />
      {words ?? activityWord(activity)}
    </span>
  );
}

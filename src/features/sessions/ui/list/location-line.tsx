import { clsx } from "clsx";
import type { SessionLocation } from "./session-location.ts";

interface LocationLineProps {
  location: SessionLocation | null;
  className?: string;
}

/** Shows a listed session's location: short, and in full on hover or when its row has the keyboard focus. */
export function LocationLine({ location, className }: LocationLineProps) {
  if (location === null) return null;
  return (
    <>
      <span
        title={location.full}
        className={clsx("min-w-0 truncate in-[:focus-visible]:hidden", className)}
      >
        {location.short}
      </span>
      <span className="hidden min-w-0 [overflow-wrap:anywhere] in-[:focus-visible]:block">
        {location.full}
      </span>
    </>
  );
}

import { Tooltip } from "radix-ui";
import { useState } from "react";
import type { SessionLocation } from "#features/sessions/ui/list/session-location.ts";

/** Shows the session's location; the full address on hover, on focus and by a tap. */
export function LocationFact({ location: { short, full } }: { location: SessionLocation }) {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <Tooltip.Provider delayDuration={300}>
      <Tooltip.Root open={isOpen} onOpenChange={setIsOpen}>
        <Tooltip.Trigger asChild>
          <button
            type="button"
            aria-label={`Workspace: ${full}`}
            data-testid="location"
            className="max-w-full min-w-0 truncate rounded-sm -outline-offset-1 underline decoration-dotted decoration-line-strong underline-offset-2 hover:text-ink"
            onClick={(event) => {
              // Tooltips close on a click, and a tap is the only way to open one on a touch screen.
              event.preventDefault();
              setIsOpen(true);
            }}
          >
            {short}
          </button>
        </Tooltip.Trigger>
        <Tooltip.Portal>
          <Tooltip.Content
            side="bottom"
            align="start"
            sideOffset={6}
            collisionPadding={12}
            className="z-50 max-w-[min(30rem,calc(100vw-1.5rem))] rounded-lg border border-line bg-raised px-2.5 py-1.5 text-xs text-ink shadow-float [overflow-wrap:anywhere]"
          >
            {full}
          </Tooltip.Content>
        </Tooltip.Portal>
      </Tooltip.Root>
    </Tooltip.Provider>
  );
}

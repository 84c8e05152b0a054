import { Button } from "#surfaces/web/kit/button.tsx";
import type { ReadGate } from "#surfaces/web/kit/read-gate.tsx";

interface UnreadProps {
  /** For the buttons that it explains. */
  id: string;
  gate: ReadGate;
  /** The button that does not act yet. */
  what: string;
}

/** Says why nothing can be allowed yet, and leads to what was not seen, by keyboard too. */
export function Unread({ id, gate, what }: UnreadProps) {
  if (gate.isRead) return null;
  return (
    <p id={id} className="animate-late mt-2 flex flex-wrap items-center gap-x-2 text-xs text-warn">
      “{what}” works once all of the text above was on the screen, to its end.
      <Button onClick={gate.readOn}>Read on</Button>
    </p>
  );
}

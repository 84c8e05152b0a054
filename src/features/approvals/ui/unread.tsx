import { Button } from "#surfaces/web/kit/button.tsx";
import type { ReadGate } from "#surfaces/web/kit/read-gate.tsx";

interface UnreadProps {
  /** Element id that the disabled buttons refer to with aria-describedby. */
  id: string;
  gate: ReadGate;
  /** Name of the disabled button. */
  what: string;
}

/** Explains why nothing can be allowed yet, and links to the unread part, by keyboard too. */
export function Unread({ id, gate, what }: UnreadProps) {
  if (gate.isRead) return null;
  return (
    <p id={id} className="animate-late mt-2 flex flex-wrap items-center gap-x-2 text-xs text-warn">
      “{what}” is available after you scroll through all of the text above.
      <Button onClick={gate.readOn}>Scroll down</Button>
    </p>
  );
}

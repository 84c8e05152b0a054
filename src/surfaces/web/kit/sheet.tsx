import { X } from "lucide-react";
import { Dialog } from "radix-ui";
import type { ReactNode } from "react";
import { useFocusBack } from "./dialog.tsx";
import { revealLine } from "./text/reveal.ts";

/** Attribute of a form in a sheet: Escape closes the form, not the sheet. */
export const OWN_ESCAPE = { "data-own-escape": true };

interface SheetProps {
  title: ReactNode;
  /** Small text beside the title. */
  above?: ReactNode;
  onClose: () => void;
  /** Focus target after closing, if not the opener. */
  focusAfter?: () => HTMLElement | null;
  children: ReactNode;
}

/** Shows one thing in full over the page: at the right, on a phone over the whole screen. */
export function Sheet({ title, above, onClose, focusAfter, children }: SheetProps) {
  const focusBack = useFocusBack(focusAfter);
  return (
    <Dialog.Root open onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-50 bg-black/30 dark:bg-black/55" />
        <Dialog.Content
          aria-describedby={undefined}
          {...focusBack}
          onEscapeKeyDown={(event) => {
            const from = event.target instanceof Element ? event.target : null;
            if (from?.closest("[data-own-escape]")) event.preventDefault();
          }}
          className="animate-rise fixed inset-0 z-50 flex flex-col border-line bg-page pb-[env(safe-area-inset-bottom)] shadow-float outline-none md:left-auto md:w-[36rem] md:border-l"
        >
          <div className="flex min-h-14 shrink-0 items-start gap-2 border-b border-line py-2.5 pr-2 pl-4 md:pl-5">
            <div className="min-w-0 flex-1">
              {above}
              <Dialog.Title className="text-base font-semibold [overflow-wrap:anywhere]">
                {typeof title === "string" ? revealLine(title) : title}
              </Dialog.Title>
            </div>
            <Dialog.Close
              aria-label="Close"
              className="grid size-9 shrink-0 place-items-center rounded-lg text-ink-soft hover:bg-hover hover:text-ink"
            >
              <X size={18} aria-hidden />
            </Dialog.Close>
          </div>
          <div className="min-h-0 flex-1 overflow-y-auto px-4 py-4 md:px-5">{children}</div>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

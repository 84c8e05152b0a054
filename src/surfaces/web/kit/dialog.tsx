import { X } from "lucide-react";
import { AlertDialog, Dialog } from "radix-ui";
import { type ReactNode, useRef } from "react";
import { Button } from "./button.tsx";
import { revealLine } from "./text/reveal.ts";

// Same level as the panels: the later of two dialogs covers the earlier.
const OVERLAY = "fixed inset-0 z-50 bg-black/30 backdrop-blur-[1px] dark:bg-black/55";
const PANEL =
  "animate-rise fixed inset-x-3 bottom-3 z-50 mx-auto max-h-[calc(100dvh-1.5rem)] overflow-y-auto rounded-2xl border border-line bg-raised shadow-float outline-none sm:top-[8vh] sm:bottom-auto sm:max-h-[86vh]";

interface ModalProps {
  isOpen: boolean;
  onClose: () => void;
  title: string;
  children: ReactNode;
}

/** Returns the focus to where the dialog was opened from. */
export function useFocusBack(elsewhere?: () => HTMLElement | null) {
  const opener = useRef<Element | null>(null);
  return {
    onOpenAutoFocus: (event: Event) => {
      opener.current = openerOf(document.activeElement);
      const panel = event.currentTarget instanceof Element ? event.currentTarget : null;
      const first = panel?.querySelector<HTMLElement>("[data-autofocus]");
      if (!first) return;
      event.preventDefault();
      first.focus();
    },
    onCloseAutoFocus: (event: Event) => {
      event.preventDefault();
      const next = elsewhere?.() ?? opener.current;
      if (next instanceof HTMLElement) next.focus();
    },
  };
}

/** Returns the button of a menu instead of its item, because the menu is gone when the dialog closes. */
function openerOf(active: Element | null): Element | null {
  const label = active?.closest("[role=menu]")?.getAttribute("aria-labelledby");
  return (label && document.getElementById(label)) || active;
}

export function Modal({ isOpen, onClose, title, children }: ModalProps) {
  const focusBack = useFocusBack();
  return (
    <Dialog.Root open={isOpen} onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <Dialog.Overlay className={OVERLAY} />
        <Dialog.Content className={`${PANEL} max-w-xl`} aria-describedby={undefined} {...focusBack}>
          <div className="flex items-center justify-between px-5 pt-4">
            <Dialog.Title className="text-base font-semibold">{revealLine(title)}</Dialog.Title>
            <Dialog.Close
              aria-label="Close"
              className="-mr-2 grid size-9 place-items-center rounded-lg text-ink-soft hover:bg-hover"
            >
              <X size={18} aria-hidden />
            </Dialog.Close>
          </div>
          <div className="px-5 pt-3 pb-5">{children}</div>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

interface ConfirmProps {
  isOpen: boolean;
  onClose: () => void;
  title: string;
  text: ReactNode;
  action: string;
  isBusy?: boolean;
  onConfirm: () => void;
}

export function Confirm({ isOpen, onClose, title, text, action, isBusy, onConfirm }: ConfirmProps) {
  const focusBack = useFocusBack();
  return (
    <AlertDialog.Root open={isOpen} onOpenChange={(open) => !open && onClose()}>
      <AlertDialog.Portal>
        <AlertDialog.Overlay className={OVERLAY} />
        <AlertDialog.Content className={`${PANEL} max-w-md p-5`} {...focusBack}>
          <AlertDialog.Title className="text-base font-semibold">
            {revealLine(title)}
          </AlertDialog.Title>
          <AlertDialog.Description className="mt-1.5 text-ink-soft">{text}</AlertDialog.Description>
          <div className="mt-5 flex justify-end gap-2">
            <AlertDialog.Cancel asChild>
              <Button>Cancel</Button>
            </AlertDialog.Cancel>
            <Button look="danger" disabled={isBusy} onClick={onConfirm}>
              {action}
            </Button>
          </div>
        </AlertDialog.Content>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  );
}

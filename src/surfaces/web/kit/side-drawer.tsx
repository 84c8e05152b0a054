/** Session list as a drawer on a phone: the button and the drawer. */
import { useQuery } from "@tanstack/react-query";
import { Menu, X } from "lucide-react";
import { Dialog } from "radix-ui";
import { createContext, type ReactNode, useContext } from "react";
import type { Page } from "#protocol/page.ts";
import { keys } from "./api/query-keys.ts";
import type { Approval } from "./approval.ts";
import { IconButton } from "./button.tsx";
import { plural } from "./text/money-words.ts";

const OpenDrawer = createContext<(() => void) | undefined>(undefined);

export const DrawerOpener = OpenDrawer.Provider;

const BADGE =
  "absolute top-0.5 right-0 min-w-4 rounded-full px-1 text-center text-2xs leading-4 tabular-nums";
const MAX_SHOWN = 99;

/** Shown at the start of every page's header, unless the list is visible anyway. */
export function DrawerButton() {
  const open = useContext(OpenDrawer);
  const waiting = useQuery<Page<Approval>, Error, number>({
    queryKey: keys.pendingApprovals,
    enabled: false,
    select: (page) => page.items.length,
  });
  const unread = useQuery<{ count: number }>({ queryKey: keys.messageCount, enabled: false });
  if (open === undefined) return null;
  const count = waiting.data ?? 0;
  const messages = unread.data?.count ?? 0;
  const counts = [
    count > 0 && `${plural(count, "request")} waiting for you`,
    messages > 0 && plural(messages, "unread message"),
  ].filter((words) => words !== false);
  return (
    <IconButton label={["All sessions", ...counts].join(", ")} className="relative" onClick={open}>
      <Menu size={19} aria-hidden />
      {count > 0 && (
        <span className={`${BADGE} bg-warn text-page`}>{Math.min(count, MAX_SHOWN)}</span>
      )}
      {messages > 0 && count === 0 && (
        <span className={`${BADGE} bg-accent text-on-accent`}>{Math.min(messages, MAX_SHOWN)}</span>
      )}
      {messages > 0 && count > 0 && (
        <span className="absolute right-1 bottom-1 size-2 rounded-full bg-accent" />
      )}
    </IconButton>
  );
}

interface SideDrawerProps {
  isOpen: boolean;
  onClose: () => void;
  children: ReactNode;
}

export function SideDrawer({ isOpen, onClose, children }: SideDrawerProps) {
  return (
    <Dialog.Root open={isOpen} onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-40 bg-black/30 dark:bg-black/55" />
        <Dialog.Content
          aria-describedby={undefined}
          // The first element would be a field, which opens the on-screen keyboard.
          onOpenAutoFocus={(event) => {
            event.preventDefault();
            if (event.target instanceof HTMLElement) event.target.focus();
          }}
          className="fixed inset-y-0 left-0 z-40 w-[min(22rem,calc(100vw-2.75rem))] border-r border-line bg-panel shadow-float outline-none"
        >
          <Dialog.Title className="sr-only">All sessions</Dialog.Title>
          {children}
          <Dialog.Close
            aria-label="Close"
            className="absolute top-2.5 -right-11 grid size-9 place-items-center rounded-full bg-raised text-ink shadow-float"
          >
            <X size={18} aria-hidden />
          </Dialog.Close>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

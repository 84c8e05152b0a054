import { Outlet, useParams } from "@tanstack/react-router";
import { clsx } from "clsx";
import { PenLine } from "lucide-react";
import { useState } from "react";
import { Button } from "#surfaces/web/kit/button.tsx";
import { Modal } from "#surfaces/web/kit/dialog.tsx";
import { useDocumentTitle } from "#surfaces/web/kit/hooks/use-document-title.ts";
import { DrawerButton } from "#surfaces/web/kit/side-drawer.tsx";
import { ComposeForm } from "./compose/compose-dialog.tsx";
import { filterOf } from "./list/inbox-search.ts";
import { MessageFilters } from "./list/message-filters.tsx";
import { MessageList } from "./list/message-list.tsx";
import { useInboxSearch } from "./list/use-inbox-search.ts";
import { useMessageList } from "./use-messages.ts";

/** Shows a person's messages: the list and the open thread beside it, or one of the two in little room. */
export function InboxPage() {
  useDocumentTitle("Inbox");
  const search = useInboxSearch();
  const { threadId } = useParams({ strict: false });
  const [isWriting, setIsWriting] = useState(false);
  const isOpen = threadId !== undefined;
  return (
    <div className="flex h-full">
      <div
        className={clsx(
          "flex h-full w-full min-w-0 flex-col border-line lg:w-96 lg:shrink-0 lg:border-r",
          isOpen && "max-lg:hidden",
        )}
      >
        <header className="flex min-h-14 shrink-0 items-center gap-1 border-b border-line px-2 md:px-4">
          <DrawerButton />
          <h1 className="flex-1 px-1 text-[0.9375rem] font-semibold">Inbox</h1>
          <Button size="small" onClick={() => setIsWriting(true)}>
            <PenLine size={15} aria-hidden />
            New message
          </Button>
        </header>
        <MessageFilters search={search} />
        <MessageList search={search} />
      </div>
      <div className={clsx("h-full min-w-0 flex-1", !isOpen && "max-lg:hidden")}>
        <Outlet />
      </div>
      <Modal title="New message" isOpen={isWriting} onClose={() => setIsWriting(false)}>
        <ComposeForm onClose={() => setIsWriting(false)} />
      </Modal>
    </div>
  );
}

export function NoThread() {
  const list = useMessageList(filterOf(useInboxSearch()));
  const isAny = list.data?.pages.some(({ items }) => items.length > 0) === true;
  return (
    <p className="grid h-full place-items-center p-6 text-center text-ink-faint">
      {isAny && "Select a message"}
    </p>
  );
}

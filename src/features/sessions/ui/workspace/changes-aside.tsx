import { X } from "lucide-react";
import { Dialog } from "radix-ui";
import { useMedia } from "#surfaces/web/kit/hooks/use-media.ts";
import { ChangesPanel } from "./changes-panel.tsx";

/** Shows changes beside the transcript where there is room, and otherwise in a sheet over it. */
export function ChangesAside({ sessionId, onClose }: { sessionId: string; onClose: () => void }) {
  const hasRoom = useMedia("(min-width: 1100px)");
  if (hasRoom)
    return (
      <aside
        aria-label="Changes"
        className="flex h-full w-[27rem] shrink-0 flex-col border-l border-line bg-page 2xl:w-[36rem]"
      >
        <div className="flex h-14 shrink-0 items-center border-b border-line pr-2 pl-4">
          <h2 className="flex-1 font-semibold">Changes</h2>
          <button type="button" aria-label="Close changes" onClick={onClose} className={CLOSE}>
            <X size={17} aria-hidden />
          </button>
        </div>
        <ChangesPanel sessionId={sessionId} />
      </aside>
    );
  return (
    <Dialog.Root open onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-30 bg-black/30 dark:bg-black/55" />
        <Dialog.Content
          aria-describedby={undefined}
          className="animate-rise fixed inset-x-0 bottom-0 z-30 flex h-[88dvh] flex-col overflow-hidden rounded-t-2xl border-t border-line bg-page pb-[env(safe-area-inset-bottom)] shadow-float outline-none md:inset-y-0 md:left-auto md:h-auto md:w-[30rem] md:rounded-none md:border-l"
        >
          <div className="flex h-13 shrink-0 items-center border-b border-line pr-2 pl-4">
            <Dialog.Title className="flex-1 font-semibold">Changes</Dialog.Title>
            <Dialog.Close aria-label="Close changes" className={CLOSE}>
              <X size={17} aria-hidden />
            </Dialog.Close>
          </div>
          <ChangesPanel sessionId={sessionId} />
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

const CLOSE =
  "grid size-9 shrink-0 place-items-center rounded-lg text-ink-soft hover:bg-hover hover:text-ink";

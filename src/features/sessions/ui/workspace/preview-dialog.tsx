import { useQuery } from "@tanstack/react-query";
import { ExternalLink, ShieldCheck, X } from "lucide-react";
import { Dialog } from "radix-ui";
import { useState } from "react";
import type { ShownFile } from "#protocol/workspaces.ts";
import { api, messageOf } from "#surfaces/web/kit/api/api-client.ts";
import { keys } from "#surfaces/web/kit/api/query-keys.ts";
import { Button } from "#surfaces/web/kit/button.tsx";
import { InlineError } from "#surfaces/web/kit/field.tsx";
import { revealLine } from "#surfaces/web/kit/text/reveal.ts";

interface PreviewDialogProps {
  sessionId: string;
  file: ShownFile;
  onClose: () => void;
}

/**
 * Previews an agent's file, which is untrusted code. The frame has no origin and reaches neither this
 * page, the session nor the network; scripts run only on request.
 */
export function PreviewDialog({ sessionId, file, onClose }: PreviewDialogProps) {
  const [hasScripts, setHasScripts] = useState(false);
  const mayHaveScripts = file.mediaType.startsWith("text/html");
  const found = useQuery({
    queryKey: keys.preview(sessionId, file.path, file.updatedAt, hasScripts),
    queryFn: () =>
      api.workspaces.createPreview({
        id: sessionId,
        body: { path: file.path, scripts: hasScripts },
      }),
    staleTime: 30 * 60_000,
  });
  const { url, frameUrl } = found.data ?? {};
  return (
    <Dialog.Root open onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-40 bg-black/30 backdrop-blur-[1px] dark:bg-black/55" />
        <Dialog.Content
          aria-describedby={undefined}
          className="animate-rise fixed inset-2 z-50 flex flex-col overflow-hidden rounded-2xl border border-line bg-raised shadow-float outline-none sm:inset-x-[6vw] sm:inset-y-[5vh]"
        >
          <div className="flex shrink-0 items-center gap-2 border-b border-line py-1.5 pr-1.5 pl-3">
            <div className="flex h-8 min-w-0 flex-1 items-center gap-2 rounded-lg bg-panel px-2.5 text-xs">
              <ShieldCheck size={14} aria-hidden className="shrink-0 text-accent" />
              <Dialog.Title className="min-w-0 truncate font-mono">
                {revealLine(file.path)}
              </Dialog.Title>
              <span className="ml-auto shrink-0 text-2xs text-ink-faint max-sm:hidden">
                isolated: no network, no access to your account, {hasScripts ? "" : "no "}scripts
              </span>
              <span className="ml-auto shrink-0 text-2xs text-ink-faint sm:hidden">isolated</span>
            </div>
            {mayHaveScripts && !hasScripts && (
              <Button
                size="small"
                title="Runs the page's code in this frame. Only for files you trust."
                onClick={() => setHasScripts(true)}
              >
                Run scripts
              </Button>
            )}
            {url !== undefined && (
              <a
                href={url}
                target="_blank"
                rel="noopener noreferrer"
                aria-label="Open in a new tab"
                title="Open in a new tab"
                className="grid size-9 place-items-center rounded-lg text-ink-soft hover:bg-hover"
              >
                <ExternalLink size={16} aria-hidden />
              </a>
            )}
            <Dialog.Close
              aria-label="Close"
              className="grid size-9 place-items-center rounded-lg text-ink-soft hover:bg-hover"
            >
              <X size={18} aria-hidden />
            </Dialog.Close>
          </div>
          {found.isError && (
            <div className="p-4">
              <InlineError>{messageOf(found.error)}</InlineError>
            </div>
          )}
          {frameUrl !== undefined && (
            <iframe
              title={`Preview of ${file.path}`}
              src={frameUrl}
              sandbox={hasScripts ? "allow-scripts" : ""}
              referrerPolicy="no-referrer"
              className="min-h-0 w-full flex-1 bg-white [color-scheme:light]"
            />
          )}
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

import { Download, Upload } from "lucide-react";
import { useRef, useState } from "react";
import type { Imported } from "#features/memory/contract.ts";
import { importToScope, type MemoryScopeChoice } from "#surfaces/web/kit/api/memory-scope.ts";
import { keys } from "#surfaces/web/kit/api/query-keys.ts";
import { Button } from "#surfaces/web/kit/button.tsx";
import { Modal } from "#surfaces/web/kit/dialog.tsx";
import { download } from "#surfaces/web/kit/download.ts";
import { useChange } from "#surfaces/web/kit/settings/use-change.ts";
import { plural } from "#surfaces/web/kit/text/money-words.ts";
import { exportScope, importFiles, readFiles } from "./transfer.ts";

interface TransferButtonsProps {
  /** One scope: the memories of all sessions do not fit into one folder. */
  scope: Exclude<MemoryScopeChoice, "sessions">;
}

export function TransferButtons({ scope }: TransferButtonsProps) {
  const chooser = useRef<HTMLInputElement>(null);
  const [report, setReport] = useState<Imported | null>(null);
  const save = useChange(() => exportScope(scope), {
    stale: keys.memoryScopes,
    onDone: download,
    failed: "Couldn't export the memories",
  });
  const take = useChange(
    async (chosen: readonly File[]) =>
      importFiles(await readFiles(chosen), (files) => importToScope(scope, files)),
    { stale: keys.memories, onDone: setReport, failed: "Couldn't import the memories" },
  );
  return (
    <>
      <Button
        size="small"
        disabled={save.isPending}
        title="A ZIP archive with one Markdown file per memory"
        onClick={() => save.mutate(undefined)}
      >
        <Download size={14} aria-hidden />
        Export
      </Button>
      <Button
        size="small"
        disabled={take.isPending}
        title="Markdown files, or a ZIP archive of them"
        onClick={() => chooser.current?.click()}
      >
        <Upload size={14} aria-hidden />
        {take.isPending ? "Importing…" : "Import"}
      </Button>
      <input
        ref={chooser}
        type="file"
        multiple
        hidden
        aria-label="Files to import"
        accept=".md,.markdown,.zip"
        onChange={({ target }) => {
          const chosen = [...(target.files ?? [])];
          // Resetting the value lets the same files be chosen again.
          target.value = "";
          if (chosen.length > 0) take.mutate(chosen);
        }}
      />
      {report && <Report report={report} onClose={() => setReport(null)} />}
    </>
  );
}

function Report({ report, onClose }: { report: Imported; onClose: () => void }) {
  const { created, replaced, unchanged, pruned, refused } = report;
  const lines = [
    `${plural(created, "new memory", "new memories")}.`,
    replaced > 0 && `${plural(replaced, "memory", "memories")} updated.`,
    unchanged > 0 && `${plural(unchanged, "memory was", "memories were")} already up to date.`,
    pruned > 0 && `${plural(pruned, "memory", "memories")} removed to make room.`,
  ].filter((line) => line !== false);
  return (
    <Modal isOpen title="Imported" onClose={onClose}>
      <div className="space-y-3.5">
        <ul>
          {lines.map((line) => (
            <li key={line}>{line}</li>
          ))}
        </ul>
        {refused.length > 0 && (
          <div>
            <p className="text-warn">{plural(refused.length, "file")} could not be imported:</p>
            <ul className="mt-1 max-h-48 overflow-y-auto text-xs">
              {refused.map(({ path, reason }) => (
                <li key={path} className="[overflow-wrap:anywhere]">
                  <span className="font-mono">{path}</span>: {reason}
                </li>
              ))}
            </ul>
          </div>
        )}
        <div className="flex justify-end">
          <Button look="primary" onClick={onClose}>
            Done
          </Button>
        </div>
      </div>
    </Modal>
  );
}

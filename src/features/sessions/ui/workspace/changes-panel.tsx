import { useQuery } from "@tanstack/react-query";
import { clsx } from "clsx";
import { ChevronRight, Eye } from "lucide-react";
import { useMemo, useState } from "react";
import type { FileChange, SessionChanges, ShownFile } from "#protocol/workspaces.ts";
import { api, messageOf } from "#surfaces/web/kit/api/api-client.ts";
import { keys } from "#surfaces/web/kit/api/query-keys.ts";
import { Button } from "#surfaces/web/kit/button.tsx";
import { InlineError } from "#surfaces/web/kit/field.tsx";
import { parsePatch } from "#surfaces/web/kit/text/diff.ts";
import { ChangeCount, DiffView } from "#surfaces/web/kit/text/diff-view.tsx";
import { plural, sizeWords } from "#surfaces/web/kit/text/money-words.ts";
import { revealLine } from "#surfaces/web/kit/text/reveal.ts";
import { clockTime } from "#surfaces/web/kit/text/time-words.ts";
import { PreviewDialog } from "./preview-dialog.tsx";

export function useChanges(sessionId: string, turn: string | undefined) {
  return useQuery({
    queryKey: keys.changes(sessionId, turn),
    queryFn: ({ signal }) => api.workspaces.changes({ id: sessionId, query: { turn } }, { signal }),
    placeholderData: (earlier) => earlier,
  });
}

/** Shows changes in the agent's workspace, all or by turn, and files that can be previewed. */
export function ChangesPanel({ sessionId }: { sessionId: string }) {
  const [turn, setTurn] = useState<string | undefined>(undefined);
  const [preview, setPreview] = useState<ShownFile | null>(null);
  const found = useChanges(sessionId, turn);
  const changes = found.data;
  if (found.isError && changes === undefined)
    return (
      <div className="space-y-2 p-4">
        <InlineError>{messageOf(found.error)}</InlineError>
        <Button size="small" onClick={() => void found.refetch()}>
          Try again
        </Button>
      </div>
    );
  if (changes === undefined)
    return <div role="status" aria-label="Loading the changes" className="flex-1" />;
  return (
    <>
      {changes.turns.length > 1 && <TurnChoice changes={changes} turn={turn} onChange={setTurn} />}
      <div className="min-h-0 flex-1 overflow-y-auto">
        {changes.files.length === 0 ? (
          <p className="px-4 py-10 text-center text-ink-faint">
            {turn === undefined ? "No changes yet." : "No changes in this turn."}
          </p>
        ) : (
          <ul className="divide-y divide-line border-b border-line">
            {changes.files.map((file) => (
              <ChangedFile
                key={`${turn ?? "all"}:${file.path}`}
                file={file}
                isAlone={changes.files.length === 1}
                shown={changes.shown.find(({ path }) => path === file.path)}
                onPreview={setPreview}
              />
            ))}
          </ul>
        )}
        {changes.more > 0 && (
          <p className="px-4 py-3 text-xs text-ink-faint">
            {plural(changes.more, "more file")} changed but not listed.
          </p>
        )}
        <OtherFiles changes={changes} onPreview={setPreview} />
      </div>
      <p className="flex shrink-0 items-center gap-3 border-t border-line px-4 py-2 text-2xs text-ink-faint">
        <span>{plural(changes.files.length + changes.more, "file")}</span>
        <ChangeCount additions={changes.additions} deletions={changes.deletions} />
        <span className="ml-auto">{diskUseWords(changes)}</span>
      </p>
      {preview && (
        <PreviewDialog sessionId={sessionId} file={preview} onClose={() => setPreview(null)} />
      )}
    </>
  );
}

interface TurnChoiceProps {
  changes: SessionChanges;
  turn: string | undefined;
  onChange: (turn: string | undefined) => void;
}

function TurnChoice({ changes, turn, onChange }: TurnChoiceProps) {
  return (
    <div className="shrink-0 border-b border-line px-3 py-2">
      <select
        aria-label="Show changes of"
        value={turn ?? ""}
        onChange={(event) => onChange(event.target.value || undefined)}
        className="h-8 w-full rounded-lg border border-line bg-raised px-2 text-xs max-md:h-10 max-md:text-base"
      >
        <option value="">All changes</option>
        {changes.turns.map(({ promptId, at }, place) => (
          <option key={promptId} value={promptId}>
            Turn {place + 1}, {clockTime(at)}
          </option>
        ))}
      </select>
    </div>
  );
}

const LETTERS: Record<FileChange["status"], { letter: string; tone: string }> = {
  added: { letter: "A", tone: "text-good" },
  modified: { letter: "M", tone: "text-warn" },
  deleted: { letter: "D", tone: "text-bad" },
  renamed: { letter: "R", tone: "text-accent" },
};

interface ChangedFileProps {
  file: FileChange;
  isAlone: boolean;
  shown: ShownFile | undefined;
  onPreview: (file: ShownFile) => void;
}

function ChangedFile({ file, isAlone, shown, onPreview }: ChangedFileProps) {
  const [isOpen, setIsOpen] = useState(isAlone);
  const { letter, tone } = LETTERS[file.status];
  return (
    <li>
      <div className="flex items-center gap-1 pr-2 hover:bg-hover">
        <button
          type="button"
          aria-expanded={isOpen}
          onClick={() => setIsOpen(!isOpen)}
          className="flex h-9 min-w-0 flex-1 items-center gap-2 pl-3 text-left text-xs -outline-offset-2 max-md:h-11"
        >
          <ChevronRight
            size={14}
            aria-hidden
            className={clsx("shrink-0 text-ink-faint", isOpen && "rotate-90")}
          />
          <span title={file.status} className={clsx("shrink-0 font-mono font-semibold", tone)}>
            {letter}
            <span className="sr-only"> {file.status}</span>
          </span>
          <FileName path={file.path} />
          {!file.binary && <ChangeCount additions={file.additions} deletions={file.deletions} />}
        </button>
        {shown && file.status !== "deleted" && <PreviewButton file={shown} onPreview={onPreview} />}
      </div>
      {isOpen && <Patch file={file} />}
    </li>
  );
}

function Patch({ file }: { file: FileChange }) {
  const lines = useMemo(() => parsePatch(file.patch ?? ""), [file.patch]);
  const note = noteOf(file, lines.length);
  return (
    <div className="border-t border-line bg-page">
      {file.from !== null && (
        <p className="px-4 py-1.5 text-2xs break-all text-ink-faint">Was {file.from}</p>
      )}
      {note === null ? (
        <DiffView lines={lines} label={`Changes of ${file.path}`} />
      ) : (
        <p className="px-4 py-2.5 text-xs text-ink-faint">{note}</p>
      )}
    </div>
  );
}

function noteOf(file: FileChange, lines: number): string | null {
  if (file.binary) return "Binary file; no diff.";
  if (file.patch === null) return "Diff too long to show.";
  return lines === 0 ? "No lines changed." : null;
}

/** Keeps the end of a path visible in little room, because it says most. */
function FileName({ path }: { path: string }) {
  const cut = path.lastIndexOf("/") + 1;
  return (
    <span title={revealLine(path)} dir="ltr" className="flex min-w-0 flex-1 font-mono">
      <span className="min-w-0 truncate text-ink-faint">{revealLine(path.slice(0, cut))}</span>
      <span className="max-w-full shrink-0 truncate">{revealLine(path.slice(cut))}</span>
    </span>
  );
}

function diskUseWords({ diskBytes, diskQuotaBytes }: SessionChanges): string {
  const used = `${sizeWords(diskBytes)} on disk`;
  return diskQuotaBytes === null ? used : `${used}of ${sizeWords(diskQuotaBytes)}`;
}

function OtherFiles({
  changes,
  onPreview,
}: {
  changes: SessionChanges;
  onPreview: (file: ShownFile) => void;
}) {
  const listed = new Set(changes.files.map(({ path }) => path));
  const others = changes.shown.filter(({ path }) => !listed.has(path));
  if (others.length === 0) return null;
  return (
    <section aria-label="Previews" className="py-2">
      <h3 className="px-4 pb-1 text-2xs font-medium text-ink-faint">Previews</h3>
      <ul>
        {others.map((file) => (
          <li key={file.path} className="flex items-center gap-2 pr-2 pl-4 text-xs">
            <FileName path={file.path} />
            <span className="shrink-0 text-2xs text-ink-faint">{sizeWords(file.size)}</span>
            <PreviewButton file={file} onPreview={onPreview} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function PreviewButton({
  file,
  onPreview,
}: {
  file: ShownFile;
  onPreview: (file: ShownFile) => void;
}) {
  return (
    <Button size="small" aria-label={`Preview ${file.path}`} onClick={() => onPreview(file)}>
      <Eye size={14} aria-hidden />
      Preview
    </Button>
  );
}

import { Eye, FileDiff } from "lucide-react";
import { useState } from "react";
import type { ShownFile } from "#protocol/workspaces.ts";
import { Button } from "#surfaces/web/kit/button.tsx";
import { ChangeCount } from "#surfaces/web/kit/text/diff-view.tsx";
import { pageOf } from "../transcript/page-of.ts";
import { useChanges } from "./changes-panel.tsx";
import { PreviewDialog } from "./preview-dialog.tsx";

interface WorkspaceButtonsProps {
  sessionId: string;
  isOpen: boolean;
  onClick: () => void;
}

/** Buttons for the agent's results: the page, if there is one, and the changes. */
export function WorkspaceButtons({ sessionId, isOpen, onClick }: WorkspaceButtonsProps) {
  const changes = useChanges(sessionId, undefined).data;
  const [preview, setPreview] = useState<ShownFile | null>(null);
  const page = pageOf(changes?.shown ?? []);
  const hasChanges = changes !== undefined && changes.files.length > 0;
  return (
    <>
      {page && (
        <Button look="ghost" title={`Preview ${page.path}`} onClick={() => setPreview(page)}>
          <Eye size={17} aria-hidden />
          <span className="max-md:sr-only">Preview</span>
        </Button>
      )}
      <Button
        look={isOpen ? "plain" : "ghost"}
        aria-pressed={isOpen}
        title="Changed files in the workspace"
        onClick={onClick}
      >
        <FileDiff size={17} aria-hidden />
        <span className={hasChanges ? "sr-only" : "max-md:sr-only"}>Changes</span>
        {hasChanges && <ChangeCount additions={changes.additions} deletions={changes.deletions} />}
      </Button>
      {preview && (
        <PreviewDialog sessionId={sessionId} file={preview} onClose={() => setPreview(null)} />
      )}
    </>
  );
}

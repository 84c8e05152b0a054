import { Plus, Trash2 } from "lucide-react";
import { Button, IconButton } from "#surfaces/web/kit/button.tsx";
import { TextArea, TextField } from "#surfaces/web/kit/field.tsx";
import type { Problems } from "#surfaces/web/kit/settings/field-problems.ts";
import { addFile, changeFile, type PersonaDraft, removeFile } from "./persona-draft.ts";

interface PersonaFilesProps {
  draft: PersonaDraft;
  problems: Problems;
  onChange: (draft: PersonaDraft) => void;
}

/** Edits instructions file by file. Files are not sorted while typing. */
export function PersonaFiles({ draft, problems, onChange }: PersonaFilesProps) {
  return (
    <div className="space-y-3">
      <div>
        <h3 className="font-semibold">Files</h3>
        <p className="text-xs text-ink-faint">
          The agent reads all of them, in ascending order; SAFETY.md always comes first.
        </p>
      </div>
      {draft.files.length === 0 && (
        <p className="text-ink-soft">No files yet. The agent uses its default instructions.</p>
      )}
      {draft.files.map((file, index) => (
        <fieldset
          key={file.key}
          className="min-w-0 space-y-3 rounded-xl border border-line bg-raised p-3.5"
        >
          <legend className="sr-only">File {index + 1}</legend>
          <div className="grid grid-cols-[1fr_5rem_auto] items-start gap-2">
            <TextField
              label="File name"
              problem={problems[`files.${index}.filename`]}
              spellCheck={false}
              maxLength={100}
              placeholder="rules.md"
              value={file.filename}
              onChange={(event) =>
                onChange(changeFile(draft, file.key, { filename: event.target.value }))
              }
            />
            <TextField
              label="Order"
              problem={problems[`files.${index}.sortOrder`]}
              inputMode="numeric"
              value={file.order}
              onChange={(event) =>
                onChange(changeFile(draft, file.key, { order: event.target.value }))
              }
            />
            <IconButton
              className="mt-5"
              label={`Remove file ${file.filename || index + 1}`}
              onClick={() => onChange(removeFile(draft, file.key))}
            >
              <Trash2 size={16} aria-hidden />
            </IconButton>
          </div>
          <TextArea
            label="Text"
            problem={problems[`files.${index}.content`]}
            rows={10}
            className="font-mono text-xs"
            value={file.content}
            onChange={(event) =>
              onChange(changeFile(draft, file.key, { content: event.target.value }))
            }
          />
        </fieldset>
      ))}
      <Button size="small" onClick={() => onChange(addFile(draft))}>
        <Plus size={15} aria-hidden />
        Add a file
      </Button>
    </div>
  );
}

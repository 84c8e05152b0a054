/** Dialog for creating and editing a memory. */
import { useQuery } from "@tanstack/react-query";
import { type FormEvent, type KeyboardEvent, type ReactNode, useId, useState } from "react";
import type { Memory, WriteResult } from "#features/memory/contract.ts";
import { api, messageOf } from "#surfaces/web/kit/api/api-client.ts";
import {
  type MemoryScopeChoice,
  type NewMemory,
  writeMemory,
} from "#surfaces/web/kit/api/memory-scope.ts";
import { keys } from "#surfaces/web/kit/api/query-keys.ts";
import { Button } from "#surfaces/web/kit/button.tsx";
import { Modal } from "#surfaces/web/kit/dialog.tsx";
import { InlineError, TextArea, TextField } from "#surfaces/web/kit/field.tsx";
import { useNow } from "#surfaces/web/kit/hooks/use-now.ts";
import { useRepos } from "#surfaces/web/kit/hooks/use-settings.ts";
import { useChange } from "#surfaces/web/kit/settings/use-change.ts";
import { agoWords } from "#surfaces/web/kit/text/time-words.ts";
import { useToasts } from "#surfaces/web/kit/toast.tsx";
import { nameOf, SUGGESTED_CATEGORIES } from "./memory-words.ts";
import { useMemoryScopes } from "./use-memories.ts";

const MAX_CONTENT_CHARS = 4_000;
const MAX_TITLE_CHARS = 200;
const MAX_CATEGORY_CHARS = 64;

interface NewMemoryDialogProps {
  scope: MemoryScopeChoice;
  onClose: () => void;
}

export function NewMemoryDialog({ scope, onClose }: NewMemoryDialogProps) {
  const toasts = useToasts();
  const isOfSessions = scope !== "orchestrator";
  const [repo, setRepo] = useState(typeof scope === "object" ? (scope.repo ?? "") : "");
  const write = useChange(
    (memory: NewMemory) =>
      writeMemory(isOfSessions ? { repo: repo.trim() || null } : scope, memory),
    {
      stale: keys.memories,
      onDone: (written) => {
        const words = writtenWords(written);
        if (words) toasts.show(words);
        onClose();
      },
    },
  );
  return (
    <Modal isOpen title="New memory" onClose={onClose}>
      <MemoryForm
        first={{ content: "", category: "general", title: null, pinned: false }}
        action="Save"
        isBusy={write.isPending}
        error={write.error}
        onSave={(memory) => write.mutate(memory)}
        onCancel={onClose}
      >
        {isOfSessions && <RepoField value={repo} onChange={setRepo} />}
      </MemoryForm>
    </Modal>
  );
}

/** Describes what the list does not show: the memory it replaced, and those pruned to make room. */
function writtenWords({ replaced, pruned }: WriteResult): string | undefined {
  if (replaced) return "It replaced an earlier memory on the same topic";
  const gone = pruned.map((memory) => `“${nameOf(memory)}”`).join(", ");
  return gone === "" ? undefined : `Removed ${gone} to make room`;
}

function RepoField({ value, onChange }: { value: string; onChange: (repo: string) => void }) {
  const id = useId();
  const known = useMemoryScopes().data?.items.flatMap(({ repo }) => repo ?? []) ?? [];
  const repos = useRepos().data?.map(({ url }) => url) ?? [];
  return (
    <>
      <TextField
        label="Repository"
        hint="its URL; empty for sessions without a repository"
        list={id}
        value={value}
        onChange={({ target }) => onChange(target.value)}
      />
      <datalist id={id}>
        {[...new Set([...known, ...repos])].map((repo) => (
          <option key={repo} value={repo} />
        ))}
      </datalist>
    </>
  );
}

export function EditMemoryDialog({ memory, onClose }: { memory: Memory; onClose: () => void }) {
  const save = useChange(
    async (edited: NewMemory) => {
      const change = changeOf(memory, edited);
      if (Object.keys(change).length > 0) await api.memory.update({ id: memory.id, body: change });
    },
    { stale: keys.memories, onDone: onClose },
  );
  return (
    <Modal isOpen title="Edit memory" onClose={onClose}>
      <MemoryForm
        first={memory}
        action="Save"
        isBusy={save.isPending}
        error={save.error}
        onSave={(change) => save.mutate(change)}
        onCancel={onClose}
      >
        <EarlierVersions memory={memory} />
      </MemoryForm>
    </Modal>
  );
}

/** Returns only the fields that the form has changed: an agent may have changed others meanwhile. */
function changeOf(before: NewMemory, { content, category, title, pinned }: NewMemory) {
  return {
    ...(content === before.content ? {} : { content }),
    ...(category === before.category ? {} : { category }),
    ...(title === before.title ? {} : { title }),
    ...(pinned === before.pinned ? {} : { pinned }),
  };
}

/** Shows earlier versions of the memory. */
function EarlierVersions({ memory: { id, updatedAt } }: { memory: Memory }) {
  const now = useNow(60_000);
  const history = useQuery({
    queryKey: keys.memoryHistory(id, updatedAt),
    queryFn: ({ signal }) => api.memory.get({ id }, { signal }),
    staleTime: Number.POSITIVE_INFINITY,
  }).data?.history;
  if (!history || history.length === 0) return null;
  return (
    <details className="rounded-lg border border-line">
      <summary className="px-3 py-2 text-xs font-medium text-ink-soft">
        Earlier versions ({history.length})
      </summary>
      <ul className="max-h-48 divide-y divide-line overflow-y-auto border-t border-line">
        {history.map(({ title, content, replacedAt }) => (
          <li key={replacedAt + content} className="px-3 py-2 text-xs">
            {title !== null && <p className="font-medium [overflow-wrap:anywhere]">{title}</p>}
            <p className="[overflow-wrap:anywhere] whitespace-pre-wrap">{content}</p>
            <p className="text-ink-faint">replaced {agoWords(replacedAt, now)}</p>
          </li>
        ))}
      </ul>
    </details>
  );
}

interface MemoryFormProps {
  first: NewMemory;
  action: string;
  isBusy: boolean;
  error: Error | null;
  onSave: (memory: NewMemory) => void;
  onCancel: () => void;
  children?: ReactNode;
}

function MemoryForm({ first, action, isBusy, error, onSave, onCancel, children }: MemoryFormProps) {
  const categories = useId();
  const [title, setTitle] = useState(first.title ?? "");
  const [content, setContent] = useState(first.content);
  const [category, setCategory] = useState(first.category);
  const [pinned, setPinned] = useState(first.pinned);
  const isReady = content.trim() !== "" && category.trim() !== "" && !isBusy;
  const submit = (event?: FormEvent) => {
    event?.preventDefault();
    if (isReady) onSave({ title: title.trim() || null, content, category, pinned });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Enter" && (event.metaKey || event.ctrlKey)) submit();
  };
  return (
    <form aria-label="Memory" className="space-y-3.5" onSubmit={submit} onKeyDown={onKeyDown}>
      <TextArea
        label="What to remember"
        hint="one fact"
        data-autofocus
        required
        rows={4}
        maxLength={MAX_CONTENT_CHARS}
        value={content}
        onChange={({ target }) => setContent(target.value)}
      />
      <div className="grid gap-3.5 sm:grid-cols-2">
        <TextField
          label="Title"
          hint="optional"
          maxLength={MAX_TITLE_CHARS}
          value={title}
          onChange={({ target }) => setTitle(target.value)}
        />
        <TextField
          label="Category"
          list={categories}
          required
          maxLength={MAX_CATEGORY_CHARS}
          value={category}
          onChange={({ target }) => setCategory(target.value)}
        />
        <datalist id={categories}>
          {SUGGESTED_CATEGORIES.map((one) => (
            <option key={one} value={one} />
          ))}
        </datalist>
      </div>
      <label className="flex cursor-pointer items-start gap-2.5">
        <input
          type="checkbox"
          className="mt-1 accent-(--accent)"
          checked={pinned}
          onChange={({ target }) => setPinned(target.checked)}
        />
        <span>
          <span className="font-medium">Pinned</span>{" "}
          <span className="text-ink-soft">Never fades, and agents can't change it.</span>
        </span>
      </label>
      {children}
      {error && <InlineError>{messageOf(error)}</InlineError>}
      <div className="flex justify-end gap-2">
        <Button onClick={onCancel}>Cancel</Button>
        <Button type="submit" look="primary" disabled={!isReady}>
          {action}
        </Button>
      </div>
    </form>
  );
}

import { Link } from "@tanstack/react-router";
import { clsx } from "clsx";
import { Brush, Plus, Search } from "lucide-react";
import { type ReactNode, useState } from "react";
import type { Memory, MemoryScope } from "#features/memory/contract.ts";
import type { MemoryScopeChoice } from "#surfaces/web/kit/api/memory-scope.ts";
import { Button } from "#surfaces/web/kit/button.tsx";
import { useNow } from "#surfaces/web/kit/hooks/use-now.ts";
import { PlainPage } from "#surfaces/web/kit/plain-page.tsx";
import { LoadProblem } from "#surfaces/web/kit/settings/parts.tsx";
import { plural } from "#surfaces/web/kit/text/money-words.ts";
import { EditMemoryDialog, NewMemoryDialog } from "./memory-dialog.tsx";
import { MemoryItem } from "./memory-item.tsx";
import { categoryWords, repoWords, SUGGESTED_CATEGORIES } from "./memory-words.ts";
import { PruneDialog } from "./prune-dialog.tsx";
import { TransferButtons } from "./transfer-buttons.tsx";
import { useMemories, useMemoryScopes, useSettled } from "./use-memories.ts";

/** Memories of one's orchestrator. */
export function MemoryPage() {
  return <Memories scope="orchestrator" />;
}

/** Memories of one's sessions, per repository. */
export function RepositoryMemoryPage() {
  const scopes = useMemoryScopes().data?.items.filter(({ kind }) => kind === "session") ?? [];
  const [chosen, setChosen] = useState<number | null>(null);
  const scope = chosen === null ? undefined : scopes[chosen];
  return (
    <Memories
      key={chosen}
      scope={scope ? { repo: scope.repo } : "sessions"}
      chooser={
        <select
          aria-label="Repository"
          value={chosen ?? ""}
          onChange={({ target }) => setChosen(target.value === "" ? null : Number(target.value))}
          className={clsx(SELECT, "max-sm:basis-full")}
        >
          <option value="">All repositories</option>
          {scopes.map(({ repo, memories }, at) => (
            <option key={repo ?? ""} value={at}>
              {repoWords(repo)} · {memories}
            </option>
          ))}
        </select>
      }
    />
  );
}

const SELECT =
  "h-9 min-w-0 rounded-lg border border-line-strong bg-raised px-2 text-sm text-ink-soft max-sm:flex-1 max-sm:text-base";
const TYPING_MS = 200;

interface MemoriesProps {
  scope: MemoryScopeChoice;
  chooser?: ReactNode;
}

function Memories({ scope, chooser }: MemoriesProps) {
  const [words, setWords] = useState("");
  const [category, setCategory] = useState("");
  const [isPinnedOnly, setIsPinnedOnly] = useState(false);
  const query = useSettled(words.trim(), TYPING_MS);
  const list = useMemories({
    scope,
    query: query || undefined,
    category: category || undefined,
    pinned: isPinnedOnly || undefined,
  });
  const [opened, setOpened] = useState<Memory | "new" | "prune" | null>(null);
  const close = () => setOpened(null);
  const categories = new Set([
    ...SUGGESTED_CATEGORIES,
    ...list.memories.map((one) => one.category),
  ]);
  if (category !== "") categories.add(category);
  return (
    <PlainPage
      title="Memory"
      aside={
        <Button look="primary" onClick={() => setOpened("new")}>
          <Plus size={16} aria-hidden />
          New memory
        </Button>
      }
    >
      <Tabs />
      <div className="space-y-3">
        <search className="flex flex-wrap gap-2">
          <div className="relative min-w-48 flex-1 max-sm:basis-full">
            <Search
              size={15}
              aria-hidden
              className="absolute top-1/2 left-3 -translate-y-1/2 text-ink-faint"
            />
            <input
              type="search"
              aria-label="Search memories"
              placeholder="Search memories"
              value={words}
              onChange={({ target }) => setWords(target.value)}
              className="h-9 w-full rounded-lg border border-line-strong bg-raised pr-2 pl-9 outline-none focus:border-accent focus:ring-2 focus:ring-accent/25 max-sm:text-base"
            />
          </div>
          {chooser}
          <select
            aria-label="Category"
            value={category}
            onChange={({ target }) => setCategory(target.value)}
            className={SELECT}
          >
            <option value="">All categories</option>
            {[...categories].map((one) => (
              <option key={one} value={one}>
                {categoryWords(one)}
              </option>
            ))}
          </select>
          <label className="flex h-9 cursor-pointer items-center gap-2 px-1 text-sm text-ink-soft">
            <input
              type="checkbox"
              className="accent-(--accent)"
              checked={isPinnedOnly}
              onChange={({ target }) => setIsPinnedOnly(target.checked)}
            />
            Pinned
          </label>
        </search>
        <div className="flex flex-wrap items-center gap-2">
          <ScopeUsage scope={scope} />
          {scope !== "sessions" && <TransferButtons scope={scope} />}
          {scope === "orchestrator" && (
            <Button size="small" onClick={() => setOpened("prune")}>
              <Brush size={14} aria-hidden />
              Clean up…
            </Button>
          )}
        </div>
        <MemoryList
          list={list}
          isFiltered={query !== "" || category !== "" || isPinnedOnly}
          isOfSessions={scope !== "orchestrator"}
          onEdit={setOpened}
          onNew={() => setOpened("new")}
        />
      </div>
      {opened === "new" && <NewMemoryDialog scope={scope} onClose={close} />}
      {opened === "prune" && <PruneDialog onClose={close} />}
      {typeof opened === "object" && opened !== null && (
        <EditMemoryDialog memory={opened} onClose={close} />
      )}
    </PlainPage>
  );
}

const TABS = [
  { to: "/memory", name: "Orchestrator" },
  { to: "/memory/repositories", name: "Repositories" },
] as const;

function Tabs() {
  return (
    <nav aria-label="Memory" className="-mt-2 flex gap-1 border-b border-line pb-2">
      {TABS.map(({ to, name }) => (
        <Link
          key={to}
          to={to}
          search={true}
          activeOptions={{ exact: true }}
          className="shrink-0 rounded-lg px-2.5 py-1.5 font-medium text-ink-soft hover:bg-hover hover:text-ink data-[status=active]:bg-hover data-[status=active]:text-ink"
        >
          {name}
        </Link>
      ))}
    </nav>
  );
}

/** Shows how many memories there are, and the limit. */
function ScopeUsage({ scope }: { scope: MemoryScopeChoice }) {
  const items = useMemoryScopes().data?.items;
  const mine = items?.filter((one) => isInScope(one, scope)) ?? [];
  const count = mine.reduce((sum, { memories }) => sum + memories, 0);
  const pinned = mine.reduce((sum, one) => sum + one.pinned, 0);
  const [only] = mine;
  const room = mine.length === 1 && only ? `, room for ${only.room - (count - pinned)} more` : "";
  return (
    <p className="min-w-0 flex-1 basis-48 text-xs text-ink-faint max-sm:basis-full">
      {items &&
        (count === 0
          ? "Only you can read them."
          : `${plural(count, "memory", "memories")}, ${pinned} pinned${room}. Only you can read them.`)}
    </p>
  );
}

function isInScope({ kind, repo }: MemoryScope, scope: MemoryScopeChoice): boolean {
  if (scope === "orchestrator") return kind === "orchestrator";
  return kind === "session" && (scope === "sessions" || scope.repo === repo);
}

interface MemoryListProps {
  list: ReturnType<typeof useMemories>;
  isFiltered: boolean;
  isOfSessions: boolean;
  onEdit: (memory: Memory) => void;
  onNew: () => void;
}

function MemoryList({ list, isFiltered, isOfSessions, onEdit, onNew }: MemoryListProps) {
  const now = useNow(60_000);
  const { found, memories } = list;
  if (found.isError && found.data === undefined)
    return <LoadProblem error={found.error} onRetry={() => void found.refetch()} />;
  if (found.data === undefined) return <p className="text-ink-faint">Loading…</p>;
  if (memories.length === 0)
    return (
      <div className="rounded-xl border border-dashed border-line-strong px-4 py-8 text-center text-ink-soft">
        {isFiltered ? (
          "No matching memories."
        ) : (
          <>
            <p className="mx-auto max-w-md">
              {isOfSessions
                ? "No memories yet. A session remembers what it learns about its repository if memory is enabled in its persona or when it is started."
                : "No memories yet. Tell your orchestrator what to remember, or add it here."}
            </p>
            <Button className="mt-3" onClick={onNew}>
              Add a memory
            </Button>
          </>
        )}
      </div>
    );
  return (
    <>
      <ul
        aria-label="Memories"
        aria-busy={found.isPlaceholderData}
        className="divide-y divide-line overflow-hidden rounded-xl border border-line bg-raised"
      >
        {memories.map((memory) => (
          <MemoryItem key={memory.id} memory={memory} now={now} onEdit={onEdit} />
        ))}
      </ul>
      {found.hasNextPage && (
        <Button
          className="w-full"
          disabled={found.isFetchingNextPage}
          onClick={() => void found.fetchNextPage()}
        >
          {found.isFetchingNextPage ? "Loading…" : "Show more"}
        </Button>
      )}
    </>
  );
}

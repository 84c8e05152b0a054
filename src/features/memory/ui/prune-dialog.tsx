import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Memory, Pruned } from "#features/memory/contract.ts";
import { api, messageOf } from "#surfaces/web/kit/api/api-client.ts";
import { keys, type PruneWish } from "#surfaces/web/kit/api/query-keys.ts";
import { Button } from "#surfaces/web/kit/button.tsx";
import { Modal } from "#surfaces/web/kit/dialog.tsx";
import { InlineError, SelectField } from "#surfaces/web/kit/field.tsx";
import { useChange } from "#surfaces/web/kit/settings/use-change.ts";
import { plural } from "#surfaces/web/kit/text/money-words.ts";
import { nameOf } from "./memory-words.ts";

const THRESHOLDS: readonly { below: number; words: string }[] = [
  { below: 0.3, words: "What is almost forgotten" },
  { below: 0.7, words: "What is fading, too" },
  { below: 1.3, words: "All that is not used often" },
  { below: 2, words: "Nearly everything" },
];
const UNUSED: readonly { days: number | undefined; words: string }[] = [
  { days: undefined, words: "However long ago" },
  { days: 30, words: "30 days" },
  { days: 90, words: "90 days" },
  { days: 180, words: "180 days" },
];

/** Prunes memories of one's orchestrator: shows what would be removed first, and the result afterwards. */
export function PruneDialog({ onClose }: { onClose: () => void }) {
  const [request, setRequest] = useState<PruneWish>({ below: 0.3 });
  const [result, setResult] = useState<Pruned | null>(null);
  const would = useQuery({
    queryKey: keys.prunable(request),
    queryFn: ({ signal }) => api.memory.prune({ body: { ...request, dryRun: true } }, { signal }),
    staleTime: 0,
    enabled: result === null,
  });
  const prune = useChange(() => api.memory.prune({ body: { ...request, dryRun: false } }), {
    stale: keys.memories,
    onDone: setResult,
  });
  const found = would.data?.pruned ?? [];
  if (result !== null)
    return (
      <Modal isOpen title="Cleared out" onClose={onClose}>
        <div className="space-y-3.5">
          <p>
            {plural(result.pruned.length, "memory", "memories")} went.
            {result.more && " There is more of the kind: clear out again."}
          </p>
          <Names memories={result.pruned} />
          <div className="flex justify-end gap-2">
            {result.more && <Button onClick={() => setResult(null)}>Again</Button>}
            <Button look="primary" onClick={onClose}>
              Done
            </Button>
          </div>
        </div>
      </Modal>
    );
  return (
    <Modal isOpen title="Clear out" onClose={onClose}>
      <div className="space-y-3.5">
        <p className="text-ink-soft">
          Memories fade by themselves when nobody uses them. Here you can help along. What is pinned
          stays.
        </p>
        <div className="grid gap-3.5 sm:grid-cols-2">
          <SelectField
            label="What goes"
            value={request.below}
            onChange={({ target }) => setRequest({ ...request, below: Number(target.value) })}
          >
            {THRESHOLDS.map(({ below, words }) => (
              <option key={below} value={below}>
                {words}
              </option>
            ))}
          </SelectField>
          <SelectField
            label="Not used for"
            value={request.unusedDays ?? ""}
            onChange={({ target }) =>
              setRequest({
                ...request,
                unusedDays: target.value === "" ? undefined : Number(target.value),
              })
            }
          >
            {UNUSED.map(({ days, words }) => (
              <option key={words} value={days ?? ""}>
                {words}
              </option>
            ))}
          </SelectField>
        </div>
        {would.isError && <InlineError>{messageOf(would.error)}</InlineError>}
        {would.data && found.length === 0 && (
          <p className="rounded-lg border border-dashed border-line-strong px-3 py-4 text-center text-ink-soft">
            Nothing is like that.
          </p>
        )}
        <Names memories={found} />
        {prune.isError && <InlineError>{messageOf(prune.error)}</InlineError>}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button
            look="danger"
            disabled={found.length === 0 || prune.isPending}
            onClick={() => prune.mutate(undefined)}
          >
            {found.length === 0
              ? "Forget"
              : `Forget ${plural(found.length, "memory", "memories")}${would.data?.more ? " for now" : ""}`}
          </Button>
        </div>
      </div>
    </Modal>
  );
}

function Names({ memories }: { memories: readonly Memory[] }) {
  if (memories.length === 0) return null;
  return (
    <ul
      aria-label="Memories that go"
      className="max-h-60 divide-y divide-line overflow-y-auto rounded-lg border border-line"
    >
      {memories.map((memory) => (
        <li key={memory.id} className="px-3 py-1.5 text-xs [overflow-wrap:anywhere]">
          {nameOf(memory)}
        </li>
      ))}
    </ul>
  );
}

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Memory, Pruned } from "#features/memory/contract.ts";
import { api, messageOf } from "#surfaces/web/kit/api/api-client.ts";
import { keys, type PruneFilter } from "#surfaces/web/kit/api/query-keys.ts";
import { Button } from "#surfaces/web/kit/button.tsx";
import { Modal } from "#surfaces/web/kit/dialog.tsx";
import { InlineError, SelectField } from "#surfaces/web/kit/field.tsx";
import { useChange } from "#surfaces/web/kit/settings/use-change.ts";
import { plural } from "#surfaces/web/kit/text/money-words.ts";
import { nameOf } from "./memory-words.ts";

const THRESHOLDS: readonly { below: number; words: string }[] = [
  { below: 0.3, words: "Almost faded" },
  { below: 0.7, words: "Fading or less" },
  { below: 1.3, words: "Not used often" },
  { below: 2, words: "Nearly everything" },
];
const UNUSED: readonly { days: number | undefined; words: string }[] = [
  { days: undefined, words: "Any time" },
  { days: 30, words: "Over 30 days ago" },
  { days: 90, words: "Over 90 days ago" },
  { days: 180, words: "Over 180 days ago" },
];

/** Prunes memories of one's orchestrator: shows what would be removed first, and the result afterwards. */
export function PruneDialog({ onClose }: { onClose: () => void }) {
  const [request, setRequest] = useState<PruneFilter>({ below: 0.3 });
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
      <Modal isOpen title="Clean-up finished" onClose={onClose}>
        <div className="space-y-3.5">
          <p>
            {plural(result.pruned.length, "memory", "memories")} removed.
            {result.more && " More memories match: run the clean-up again."}
          </p>
          <Names memories={result.pruned} />
          <div className="flex justify-end gap-2">
            {result.more && <Button onClick={() => setResult(null)}>Run again</Button>}
            <Button look="primary" onClick={onClose}>
              Done
            </Button>
          </div>
        </div>
      </Modal>
    );
  return (
    <Modal isOpen title="Clean up memories" onClose={onClose}>
      <div className="space-y-3.5">
        <p className="text-ink-soft">
          Unused memories fade over time. Remove them now; pinned memories stay.
        </p>
        <div className="grid gap-3.5 sm:grid-cols-2">
          <SelectField
            label="Relevance"
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
            label="Last used"
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
            No memories match.
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
              ? "Delete"
              : `Delete ${plural(found.length, "memory", "memories")}${would.data?.more ? " (first batch)" : ""}`}
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
      aria-label="Memories to remove"
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

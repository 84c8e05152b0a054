import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useDeferredValue, useState } from "react";
import type { Identity, IdentityChange } from "#features/orchestrators/contract.ts";
import { api, messageOf } from "#surfaces/web/kit/api/api-client.ts";
import { keys } from "#surfaces/web/kit/api/query-keys.ts";
import { Button } from "#surfaces/web/kit/button.tsx";
import { InlineError, SelectField, TextArea, TextField } from "#surfaces/web/kit/field.tsx";
import type { MyOrchestrator } from "#surfaces/web/kit/hooks/use-orchestrator.ts";
import { useChange } from "#surfaces/web/kit/settings/use-change.ts";
import { AvatarField } from "./avatar-field.tsx";
import { bare, changeOf, draftOf, handleProblem, type IdentityDraft } from "./identity-draft.ts";

type Style = Identity["style"];

const STYLES: Record<Style, string> = {
  professional: "Professional: clear and complete",
  casual: "Casual: friendly and relaxed",
  terse: "Terse: as few words as possible",
  custom: "Custom: follows your instructions",
};

/** Same limits as the server's. */
const MAX = { name: 80, handle: 31, instructions: 20_000 } as const;

export function IdentityForm({ identity }: { identity: Identity }) {
  const queryClient = useQueryClient();
  const [draft, setDraft] = useState(() => draftOf(identity));
  const edit = (change: Partial<IdentityDraft>) => setDraft({ ...draft, ...change });
  const { name, handle, avatar, style, instructions } = draft;
  const check = useHandleCheck(handle, identity.handle);
  const save = useChange((body: IdentityChange) => api.orchestrators.updateIdentity({ body }), {
    stale: keys.orchestrator,
    done: () => "Saved. Applies from its next turn",
    onDone: ({ identity: saved }) =>
      queryClient.setQueryData<MyOrchestrator>(
        keys.orchestrator,
        (mine) => mine && { ...mine, identity: saved },
      ),
  });
  const change = changeOf(identity, draft);
  const isReady =
    Object.keys(change).length > 0 && name.trim() !== "" && check.problem === undefined;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isReady) save.mutate(change);
  };
  return (
    <form aria-label="Your orchestrator" className="space-y-3.5" onSubmit={submit}>
      <div className="flex items-end gap-3">
        <AvatarField
          name={name === "" ? identity.name : name}
          avatar={avatar}
          onChange={(chosen) => edit({ avatar: chosen })}
        />
        <div className="min-w-0 flex-1">
          <TextField
            label="Name"
            maxLength={MAX.name}
            value={name}
            onChange={(event) => edit({ name: event.target.value })}
          />
        </div>
      </div>
      <div className="grid gap-3.5 sm:grid-cols-2">
        <div>
          <TextField
            label="Handle"
            hint={check.status ?? "how others in your organisation address it"}
            maxLength={MAX.handle}
            autoCapitalize="none"
            spellCheck={false}
            value={handle}
            problem={check.problem}
            onChange={(event) => edit({ handle: event.target.value })}
          />
          {check.suggestion !== undefined && (
            <button
              type="button"
              className="mt-1 text-xs text-accent underline underline-offset-2"
              onClick={() => edit({ handle: check.suggestion ?? "" })}
            >
              Use @{check.suggestion}
            </button>
          )}
        </div>
        <SelectField
          label="Style"
          value={style}
          onChange={(event) => edit({ style: event.target.value as Style })}
        >
          {Object.entries(STYLES).map(([value, words]) => (
            <option key={value} value={value}>
              {words}
            </option>
          ))}
        </SelectField>
      </div>
      <TextArea
        label="Custom instructions"
        hint="optional"
        rows={4}
        maxLength={MAX.instructions}
        placeholder="What it should know about you and how you like to work. Included in every turn."
        value={instructions}
        onChange={(event) => edit({ instructions: event.target.value })}
      />
      {save.isError && <InlineError>{messageOf(save.error)}</InlineError>}
      <Button type="submit" look="primary" disabled={!isReady || save.isPending}>
        {save.isPending ? "Saving…" : "Save"}
      </Button>
    </form>
  );
}

interface HandleCheck {
  problem?: string;
  suggestion?: string;
  status?: string;
}

/** Checks while typing that nobody else has the handle. */
function useHandleCheck(handle: string, own: string): HandleCheck {
  const deferredHandle = useDeferredValue(bare(handle));
  const malformed = handleProblem(bare(handle));
  const isNew = bare(handle) !== own;
  const found = useQuery({
    queryKey: keys.handle(deferredHandle),
    queryFn: async ({ signal }) => {
      await pause(TYPING_PAUSE_MS, signal);
      return api.orchestrators.checkHandle({ query: { handle: deferredHandle } }, { signal });
    },
    enabled: isNew && malformed === undefined,
    staleTime: 5_000,
  });
  if (!isNew) return {};
  if (malformed !== undefined) return { problem: malformed };
  if (found.data === undefined) return { status: "checking…" };
  if (found.data.available) return { status: "available" };
  const { suggestion } = found.data;
  return {
    problem: `@${deferredHandle} is taken.`,
    ...(suggestion !== undefined && { suggestion }),
  };
}

/** Typing pause before a check. */
const TYPING_PAUSE_MS = 250;

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = window.setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      window.clearTimeout(timer);
      reject(signal.reason);
    });
  });
}

import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import type { Identity } from "#features/orchestrators/contract.ts";
import { AddModel } from "#features/providers/ui/lazy-add-model.tsx";
import { useModels } from "#features/providers/ui/use-models.ts";
import { DemoNotice } from "#features/sessions/ui/new/model-choice.tsx";
import { api, messageOf } from "#surfaces/web/kit/api/api-client.ts";
import { keys } from "#surfaces/web/kit/api/query-keys.ts";
import { Avatar } from "#surfaces/web/kit/avatar.tsx";
import { Button } from "#surfaces/web/kit/button.tsx";
import { InlineError } from "#surfaces/web/kit/field.tsx";
import { useIsAdmin } from "#surfaces/web/kit/hooks/use-me.ts";
import type { MyOrchestrator } from "#surfaces/web/kit/hooks/use-orchestrator.ts";
import { useChange } from "#surfaces/web/kit/settings/use-change.ts";

const MAX_NAME_CHARS = 80;

/** Content of the conversation before the first prompt. */
export function Welcome({ identity }: { identity: Identity | null }) {
  const models = useModels();
  const mayManage = useIsAdmin();
  const [isAdding, setIsAdding] = useState(false);
  const name = identity?.name ?? "Your orchestrator";
  return (
    <div className="mx-auto flex min-h-full max-w-xl flex-col justify-center gap-5 px-5 py-8">
      <div>
        <Avatar name={name} avatar={identity?.avatar ?? null} className="size-12 text-2xl" />
        <h2 className="mt-3 text-xl font-semibold tracking-tight">What can I help with?</h2>
        <p className="mt-1.5 text-ink-soft">
          {name} answers you, or delegates work to other agents and reports back. You can open,
          steer or stop any of them from the list. Work continues when you close this page.
        </p>
      </div>
      <DemoNotice models={models} onAdd={mayManage ? () => setIsAdding(true) : undefined} />
      {identity && <NameForm identity={identity} />}
      <AddModel isOpen={isAdding} onClose={() => setIsAdding(false)} onAdded={() => undefined} />
    </div>
  );
}

const SKIPPED = "muster.naming-skipped";

function wasSkipped(): boolean {
  try {
    return localStorage.getItem(SKIPPED) !== null;
  } catch {
    return false;
  }
}

/** Offers to name the orchestrator, once; dismissing it is remembered. */
function NameForm({ identity }: { identity: Identity }) {
  const queryClient = useQueryClient();
  const [isSkipped, setIsSkipped] = useState(wasSkipped);
  const [name, setName] = useState("");
  const skip = () => {
    setIsSkipped(true);
    try {
      localStorage.setItem(SKIPPED, "1");
    } catch {
      // Storage may be forbidden; then the offer returns at the next visit.
    }
  };
  const save = useChange(
    (chosen: string) => api.orchestrators.updateIdentity({ body: { name: chosen } }),
    {
      stale: keys.orchestrator,
      done: (chosen) => `Renamed to ${chosen}`,
      onDone: ({ identity: named }) => {
        queryClient.setQueryData<MyOrchestrator>(
          keys.orchestrator,
          (mine) => mine && { ...mine, identity: named },
        );
        skip();
      },
    },
  );
  const isChanged = identity.updatedAt !== identity.createdAt;
  if (isSkipped || isChanged) return null;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (name.trim() !== "") save.mutate(name.trim());
  };
  return (
    <form
      aria-label="Name your orchestrator"
      className="space-y-2 rounded-xl border border-line px-3.5 py-3"
      onSubmit={submit}
    >
      <label htmlFor="orchestrator-name" className="block text-[0.8125rem] font-medium">
        Name your orchestrator
      </label>
      <div className="flex flex-wrap gap-2">
        <input
          id="orchestrator-name"
          maxLength={MAX_NAME_CHARS}
          placeholder={identity.name}
          value={name}
          onChange={(event) => setName(event.target.value)}
          className="h-9 min-w-0 flex-1 basis-40 rounded-lg border border-line-strong bg-page px-3 outline-none focus:border-accent focus:ring-2 focus:ring-accent/25 max-sm:text-base"
        />
        <Button type="submit" disabled={name.trim() === "" || save.isPending}>
          Save
        </Button>
        <Button look="ghost" onClick={skip}>
          Skip
        </Button>
      </div>
      {save.isError && <InlineError>{messageOf(save.error)}</InlineError>}
    </form>
  );
}

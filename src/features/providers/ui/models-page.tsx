import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Pencil, Plus, Trash2 } from "lucide-react";
import { useState } from "react";
import type { Provider } from "#features/providers/contract.ts";
import type { ModelCapability } from "#protocol/models.ts";
import { api, messageOf } from "#surfaces/web/kit/api/api-client.ts";
import { keys } from "#surfaces/web/kit/api/query-keys.ts";
import { Button, IconButton } from "#surfaces/web/kit/button.tsx";
import { Confirm } from "#surfaces/web/kit/dialog.tsx";
import { InlineError } from "#surfaces/web/kit/field.tsx";
import { useIsAdmin, useMe } from "#surfaces/web/kit/hooks/use-me.ts";
import { PlainPage } from "#surfaces/web/kit/plain-page.tsx";
import { priceWords } from "#surfaces/web/kit/text/money-words.ts";
import { revealLine } from "#surfaces/web/kit/text/reveal.ts";
import { useToasts } from "#surfaces/web/kit/toast.tsx";
import { GatewaySettings } from "./gateway-settings.tsx";
import { AddModel } from "./lazy-add-model.tsx";
import { type ModelGroup, modelGroups } from "./model-groups.ts";
import { PRESETS } from "./presets.ts";

/** Open dialog, if any. */
type OpenDialog =
  | { is: "adding"; startWith?: string }
  | { is: "changing"; provider: Provider }
  | null;

/** Polling interval: runners report in their own time. */
const POLL_MS = 15_000;

/** Lists all models by provider; admins can manage the providers. */
export function ModelsPage() {
  const mayManage = useIsAdmin();
  const me = useMe();
  const offers = useQuery({
    queryKey: keys.models,
    queryFn: () => api.runners.models(),
    refetchInterval: POLL_MS,
  });
  const providers = useQuery({
    queryKey: keys.providers,
    queryFn: ({ signal }) => api.providers.list({}, { signal }),
  });
  const [openDialog, setOpenDialog] = useState<OpenDialog>(null);
  const groups = modelGroups(offers.data?.items ?? [], providers.data?.items ?? []);
  const error = offers.error ?? providers.error;
  return (
    <PlainPage
      title="Models"
      aside={
        mayManage && (
          <Button look="primary" size="small" onClick={() => setOpenDialog({ is: "adding" })}>
            <Plus size={15} aria-hidden />
            Add a model
          </Button>
        )
      }
    >
      {error && <InlineError>{messageOf(error)}</InlineError>}
      <p className="text-xs text-ink-faint">
        Prices are per million tokens. Keys are stored encrypted on the server.
        {!mayManage && " Only admins can add models."}
      </p>
      {groups.map((group) => (
        <Group
          key={group.name}
          group={group}
          mayManage={mayManage}
          onAdd={() => setOpenDialog({ is: "adding", startWith: group.name })}
          onChange={(provider) => setOpenDialog({ is: "changing", provider })}
        />
      ))}
      {mayManage && me && <GatewaySettings orgId={me.org.id} />}
      <AddModel
        isOpen={openDialog !== null}
        startWith={openDialog?.is === "adding" ? openDialog.startWith : undefined}
        provider={openDialog?.is === "changing" ? openDialog.provider : undefined}
        onClose={() => setOpenDialog(null)}
      />
    </PlainPage>
  );
}

interface GroupProps {
  group: ModelGroup;
  mayManage: boolean;
  onAdd: () => void;
  onChange: (provider: Provider) => void;
}

function Group({ group, mayManage, onAdd, onChange }: GroupProps) {
  const { name, provider, usable, whys } = group;
  const canBeAdded =
    provider === undefined && usable.length === 0 && PRESETS.some((preset) => preset.name === name);
  return (
    <section aria-label={name} className="space-y-1.5">
      <div className="flex min-h-8 items-center gap-2">
        <div className="min-w-0 flex-1">
          <h2 className="font-semibold">{revealLine(name)}</h2>
          <p className="truncate text-xs text-ink-faint">{originWords(group)}</p>
        </div>
        {mayManage && provider && (
          <>
            <IconButton size="small" label={`Edit ${name}`} onClick={() => onChange(provider)}>
              <Pencil size={15} aria-hidden />
            </IconButton>
            <RemoveProvider name={name} />
          </>
        )}
        {mayManage && canBeAdded && (
          <Button size="small" aria-label={`Add ${name}`} onClick={onAdd}>
            Add
          </Button>
        )}
      </div>
      <div className="overflow-hidden rounded-xl border border-line bg-raised">
        {usable.length > 0 && <ModelRows models={usable} />}
        {whys.map((why) => (
          <p key={why} className="px-3.5 py-2.5 text-[0.8125rem] break-words text-ink-soft">
            {why}
          </p>
        ))}
      </div>
    </section>
  );
}

function originWords({ name, provider, usable }: ModelGroup): string {
  if (name === "demo") return "Built-in: runs a script with real tools";
  if (provider === undefined) return usable.length > 0 ? "Configured on the runner" : "Not set up";
  const key = provider.hasKey
    ? provider.keyEnd
      ? `key ending in ${provider.keyEnd}`
      : "with a key"
    : "without a key";
  const facts = [provider.baseUrl, key, provider.answered ? null : "not tested when saved"];
  return facts.filter((fact) => fact !== null).join(" · ");
}

const SHOWN_AT_FIRST = 8;

function ModelRows({ models }: { models: readonly ModelCapability[] }) {
  const [isWhole, setIsWhole] = useState(models.length <= SHOWN_AT_FIRST + 2);
  const shown = isWhole ? models : models.slice(0, SHOWN_AT_FIRST);
  return (
    <>
      <ul className="divide-y divide-line">
        {shown.map(({ id, price }) => (
          <li key={id} className="flex flex-wrap items-baseline gap-x-3 px-3.5 py-2">
            <span className="min-w-0 flex-1 basis-40 font-mono text-xs [overflow-wrap:anywhere]">
              {id}
            </span>
            <span className="text-xs text-ink-faint">{priceWords(price)}</span>
          </li>
        ))}
      </ul>
      {!isWhole && (
        <button
          type="button"
          onClick={() => setIsWhole(true)}
          className="w-full border-t border-line py-1.5 text-xs font-medium text-accent hover:bg-hover"
        >
          Show all {models.length}
        </button>
      )}
    </>
  );
}

function RemoveProvider({ name }: { name: string }) {
  const [isAsking, setIsAsking] = useState(false);
  const queryClient = useQueryClient();
  const toasts = useToasts();
  const remove = useMutation({
    mutationFn: () => api.providers.delete({ name }),
    onSuccess: () => toasts.show(`Removed ${name}`, "Its key is deleted."),
    onError: (error) => toasts.fail(`Couldn't remove ${name}`, error),
    onSettled: () => {
      setIsAsking(false);
      void queryClient.invalidateQueries({ queryKey: keys.providers });
      void queryClient.invalidateQueries({ queryKey: keys.models });
      // Runners report the change a moment later.
      window.setTimeout(() => {
        void queryClient.invalidateQueries({ queryKey: keys.models });
      }, 1_500);
    },
  });
  return (
    <>
      <IconButton size="small" label={`Remove ${name}`} onClick={() => setIsAsking(true)}>
        <Trash2 size={15} aria-hidden />
      </IconButton>
      <Confirm
        isOpen={isAsking}
        onClose={() => setIsAsking(false)}
        title={`Remove ${name}?`}
        text="Its key is deleted. Sessions can no longer use its models."
        action="Remove"
        isBusy={remove.isPending}
        onConfirm={() => remove.mutate()}
      />
    </>
  );
}

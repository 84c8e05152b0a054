import { useQuery } from "@tanstack/react-query";
import { LoaderCircle } from "lucide-react";
import { useState } from "react";
import type { Provider } from "#features/providers/contract.ts";
import type { ModelCapability } from "#protocol/models.ts";
import { ApiError, api, messageOf } from "#surfaces/web/kit/api/api-client.ts";
import { keys } from "#surfaces/web/kit/api/query-keys.ts";
import { Button } from "#surfaces/web/kit/button.tsx";
import { Modal } from "#surfaces/web/kit/dialog.tsx";
import { InlineError } from "#surfaces/web/kit/field.tsx";
import { plural } from "#surfaces/web/kit/text/money-words.ts";
import { useToasts } from "#surfaces/web/kit/toast.tsx";
import {
  changeOf,
  draftOf,
  EMPTY_DRAFT,
  nameOf,
  type Preset,
  type Problems,
  type ProviderDraft,
  presetNamed,
  problemsOf,
  refusedFields,
} from "./presets.ts";
import { ProviderForm } from "./provider-form.tsx";
import { type SetupPhase, useProviderSetup } from "./use-provider-setup.ts";

interface AddModelDialogProps {
  isOpen: boolean;
  /** Name of the preset to start with. */
  startWith?: string | undefined;
  /** Provider to change; left out when adding one. */
  provider?: Provider | undefined;
  onClose: () => void;
  /** Called with the models that can be used now. */
  onAdded?: (models: ModelCapability[]) => void;
}

/** Adds a model in one step: the provider, its key, and a wait until the model can be used. */
export function AddModelDialog({
  isOpen,
  startWith,
  provider,
  onClose,
  onAdded,
}: AddModelDialogProps) {
  const toasts = useToasts();
  const ready = (models: ModelCapability[], saved: Provider) => {
    const [model] = models;
    if (!saved.answered)
      toasts.show(
        `Saved ${saved.name}, but couldn't test it`,
        "It returned no list of models. Its models are not chosen automatically until one of them has completed a turn. Save it again when it is reachable.",
      );
    else if (model)
      toasts.show(
        `${model.provider} is ready`,
        models.length === 1 ? model.id : `${plural(models.length, "model")} available`,
      );
    onAdded?.(models);
    onClose();
  };
  return (
    <Modal
      title={provider ? `Edit ${provider.name}` : "Add a model"}
      isOpen={isOpen}
      onClose={onClose}
    >
      <Setup
        first={presetNamed(provider?.name ?? startWith ?? "anthropic")}
        provider={provider}
        onReady={ready}
        onClose={onClose}
      />
    </Modal>
  );
}

interface SetupProps {
  first: Preset;
  provider: Provider | undefined;
  onReady: (models: ModelCapability[], saved: Provider) => void;
  onClose: () => void;
}

function Setup({ first, provider, onReady, onClose }: SetupProps) {
  const listed = useQuery({
    queryKey: keys.providers,
    queryFn: ({ signal }) => api.providers.list({}, { signal }),
  });
  const known = listed.data?.items ?? [];
  const [preset, setPreset] = useState(first);
  const [draft, setDraft] = useState<ProviderDraft>(provider ? draftOf(provider) : EMPTY_DRAFT);
  const [problems, setProblems] = useState<Problems>({});
  const [refusal, setRefusal] = useState<string | null>(null);
  const { phase, saved, save, goBack } = useProviderSetup(onReady);
  // A provider that was saved but does not work exists: from then on it is changed.
  const before =
    saved ?? provider ?? known.find(({ name }) => preset.name !== null && name === preset.name);

  const submit = async (apiKey: string) => {
    const taken = known.map(({ name }) => name);
    const found = problemsOf(preset, draft, apiKey, { before, taken });
    setProblems(found);
    setRefusal(null);
    if (Object.keys(found).length > 0) return;
    try {
      await save(before?.name ?? nameOf(preset, draft), changeOf(preset, draft, apiKey, before));
    } catch (error) {
      const refused = error instanceof ApiError ? refusedFields(error) : {};
      setProblems(refused);
      if (Object.keys(refused).length === 0) setRefusal(messageOf(error));
    }
  };
  const choose = (next: Preset) => {
    setPreset(next);
    setProblems({});
    setRefusal(null);
    const there = known.find(({ name }) => name === next.name);
    setDraft(there ? draftOf(there) : EMPTY_DRAFT);
  };
  const isBusy = phase.at === "saving" || phase.at === "waiting";
  return (
    <>
      {isBusy && <Waiting phase={phase} title={preset.name ? preset.title : draft.name} />}
      {phase.at === "failed" && (
        <Failed provider={phase.provider} why={phase.why} onChange={goBack} onClose={onClose} />
      )}
      {/* The form stays mounted while the server checks it, so that a refusal loses nothing. */}
      {phase.at !== "waiting" && phase.at !== "failed" && (
        <ProviderForm
          isHidden={isBusy}
          preset={preset}
          onChoose={provider === undefined && saved === undefined ? choose : undefined}
          draft={draft}
          onDraft={(change) => setDraft({ ...draft, ...change })}
          before={before}
          problems={problems}
          onSubmit={submit}
          onCancel={onClose}
        >
          {refusal !== null && <InlineError>{refusal}</InlineError>}
        </ProviderForm>
      )}
    </>
  );
}

function Waiting({ phase, title }: { phase: SetupPhase; title: string }) {
  return (
    <div role="status" className="flex flex-col items-center gap-3 py-10 text-center">
      <LoaderCircle size={26} aria-hidden className="animate-spin text-accent" />
      <div>
        <p className="font-medium">
          {phase.at === "saving"
            ? `Checking the key with ${title}…`
            : `Loading models from ${title}…`}
        </p>
        <p className="mt-1 text-xs text-ink-faint">
          {phase.at === "saving"
            ? "The key is stored encrypted on the server."
            : "This takes a second or two."}
        </p>
      </div>
    </div>
  );
}

interface FailedProps {
  provider: Provider;
  why: string | null;
  onChange: () => void;
  onClose: () => void;
}

function Failed({ provider, why, onChange, onClose }: FailedProps) {
  return (
    <div className="space-y-4">
      <InlineError>
        {why === null ? (
          <>
            {provider.name} is saved, but no runner has loaded it. Check that a runner is connected.
          </>
        ) : (
          <>
            {provider.name} is saved, but not usable yet: no list of models from{" "}
            <span className="font-mono text-[0.9em]">{provider.baseUrl ?? "its URL"}</span>.
          </>
        )}
      </InlineError>
      {why !== null && (
        <p className="text-ink-soft">
          Check that it is running, and check its URL and key. If it doesn't list its models, enter
          them yourself.
        </p>
      )}
      <div className="flex flex-wrap justify-end gap-2">
        <Button onClick={onClose}>Keep it</Button>
        <Button look="primary" onClick={onChange}>
          Edit
        </Button>
      </div>
    </div>
  );
}

import { useQuery } from "@tanstack/react-query";
import type { Preferences, PreferencesChange } from "#features/orchestrators/contract.ts";
import { useModels } from "#features/providers/ui/use-models.ts";
import type { ModelCapability } from "#protocol/models.ts";
import type { QueueMode } from "#protocol/sessions.ts";
import { api, messageOf } from "#surfaces/web/kit/api/api-client.ts";
import { keys } from "#surfaces/web/kit/api/query-keys.ts";
import { InlineError, SelectField } from "#surfaces/web/kit/field.tsx";
import { useIsAdmin, useMe } from "#surfaces/web/kit/hooks/use-me.ts";
import { LoadProblem, Section } from "#surfaces/web/kit/settings/parts.tsx";
import { useChange } from "#surfaces/web/kit/settings/use-change.ts";
import { priceWords } from "#surfaces/web/kit/text/money-words.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const IDLE_TIMEOUTS: readonly { ms: number; words: string }[] = [
  { ms: 5 * MINUTE_MS, words: "5 minutes" },
  { ms: 15 * MINUTE_MS, words: "15 minutes" },
  { ms: HOUR_MS, words: "1 hour" },
  { ms: 8 * HOUR_MS, words: "8 hours" },
  { ms: 24 * HOUR_MS, words: "1 day" },
];

const QUEUES: Record<QueueMode, string> = {
  followup: "Follow-up: one after another",
  collect: "Collect: combine messages into one prompt",
  steer: "Steer: the newest message ends the running turn",
  interrupt: "Interrupt: the newest message aborts the running turn",
};

/** Preferences for one's orchestrator; every choice is saved at once. */
export function PreferencesForm() {
  const found = useQuery({
    queryKey: keys.preferences,
    queryFn: ({ signal }) => api.orchestrators.getPreferences({}, { signal }),
  });
  return (
    <Section title="Preferences" text="Changes are saved immediately.">
      {found.error && <LoadProblem error={found.error} onRetry={() => void found.refetch()} />}
      <div className="space-y-3.5">
        {found.data && <Choices preferences={found.data} />}
        <ModelForAll />
      </div>
    </Section>
  );
}

function Choices({ preferences }: { preferences: Preferences }) {
  const { idleTimeoutMs, queueMode, model } = preferences;
  const forAll = useModelForAll().data?.model ?? null;
  const save = useChange(
    (body: PreferencesChange) => api.orchestrators.updatePreferences({ body }),
    {
      stale: keys.preferences,
      done: () => "Saved",
    },
  );
  const isListed = IDLE_TIMEOUTS.some(({ ms }) => ms === idleTimeoutMs);
  return (
    <>
      <div className="grid gap-3.5 sm:grid-cols-2">
        <SelectField
          label="Sleep after"
          hint="wakes when you write"
          value={idleTimeoutMs ?? ""}
          onChange={({ target }) =>
            save.mutate({ idleTimeoutMs: target.value === "" ? null : Number(target.value) })
          }
        >
          <option value="">Server default</option>
          {IDLE_TIMEOUTS.map(({ ms, words }) => (
            <option key={ms} value={ms}>
              {words}
            </option>
          ))}
          {idleTimeoutMs !== null && !isListed && (
            <option value={idleTimeoutMs}>{Math.round(idleTimeoutMs / MINUTE_MS)} minutes</option>
          )}
        </SelectField>
        <SelectField
          label="When busy"
          value={queueMode ?? ""}
          onChange={({ target }) =>
            save.mutate({ queueMode: target.value === "" ? null : (target.value as QueueMode) })
          }
        >
          <option value="">Server default</option>
          {Object.entries(QUEUES).map(([mode, words]) => (
            <option key={mode} value={mode}>
              {words}
            </option>
          ))}
        </SelectField>
      </div>
      <ModelSelect
        label="Model"
        hint={forAll === null ? undefined : `set to ${forAll} for everyone by an admin`}
        none="Automatic"
        value={forAll ?? model}
        isDisabled={forAll !== null}
        onChange={(chosen) => save.mutate({ model: chosen })}
      />
      {save.isError && <InlineError>{messageOf(save.error)}</InlineError>}
    </>
  );
}

function useModelForAll() {
  const orgId = useMe()?.org.id ?? "";
  return useQuery({
    queryKey: keys.modelForAll,
    queryFn: ({ signal }) => api.orchestrators.getSettings({ orgId }, { signal }),
    enabled: orgId !== "",
  });
}

/** Chooses the organisation's model. For admins. */
function ModelForAll() {
  const orgId = useMe()?.org.id ?? "";
  const isAdmin = useIsAdmin();
  const found = useModelForAll();
  const save = useChange(
    (model: string | null) => api.orchestrators.updateSettings({ orgId, body: { model } }),
    {
      stale: keys.preferences,
      done: (model) =>
        model === null ? "Everyone can choose a model" : `All orchestrators now use ${model}`,
      failed: "Couldn't change the model",
    },
  );
  if (!isAdmin || found.data === undefined) return null;
  return (
    <ModelSelect
      label="Model for all orchestrators"
      hint="admins only"
      none="Each person chooses"
      value={found.data.model}
      isDisabled={save.isPending}
      onChange={(model) => save.mutate(model)}
    />
  );
}

interface ModelSelectProps {
  label: string;
  hint: string | undefined;
  /** Label for no model. */
  none: string;
  value: string | null;
  isDisabled: boolean;
  onChange: (model: string | null) => void;
}

function ModelSelect({ label, hint, none, value, isDisabled, onChange }: ModelSelectProps) {
  const usable = useModels().filter((model: ModelCapability) => model.usable);
  const isOffered = value === null || usable.some(({ id }) => id === value);
  return (
    <SelectField
      label={label}
      hint={hint}
      value={value ?? ""}
      disabled={isDisabled}
      onChange={({ target }) => onChange(target.value === "" ? null : target.value)}
    >
      <option value="">{none}</option>
      {usable.map(({ id, price }) => (
        <option key={id} value={id}>
          {id} · {priceWords(price)}
        </option>
      ))}
      {!isOffered && <option value={value}>{value} · unavailable</option>}
    </SelectField>
  );
}

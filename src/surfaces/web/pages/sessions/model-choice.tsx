import { useQuery } from "@tanstack/react-query";
import { Sparkles } from "lucide-react";
import type { ModelOffer } from "#protocol/models.ts";
import { api } from "#surfaces/web/kit/api.ts";
import { SelectField } from "#surfaces/web/kit/field.tsx";
import { priceWords } from "#surfaces/web/kit/money-words.ts";
import { keys } from "#surfaces/web/kit/query-keys.ts";

const DEMO_PROVIDER = "demo";

export function useModels(): ModelOffer[] {
  const found = useQuery({ queryKey: keys.models, queryFn: api.listModels, staleTime: 60_000 });
  return found.data?.items ?? [];
}

interface ModelChoiceProps {
  models: readonly ModelOffer[];
  /** Empty for automatic. */
  chosen: string;
  onChange: (model: string) => void;
}

/** Which model, and what a million of its tokens costs. */
export function ModelChoice({ models, chosen, onChange }: ModelChoiceProps) {
  const model = models.find(({ id }) => id === chosen);
  const usable = models.filter((one) => one.usable);
  const lacking = models.filter((one) => !one.usable);
  return (
    <SelectField
      label="Model"
      hint={model ? priceHint(model) : undefined}
      name="model"
      value={chosen}
      onChange={(event) => onChange(event.target.value)}
    >
      <option value="">Automatic</option>
      {usable.map((one) => (
        <option key={one.id} value={one.id}>
          {one.id} · {priceWords(one.price)}
        </option>
      ))}
      {lacking.length > 0 && (
        <optgroup label="Not usable yet">
          {lacking.map((one) => (
            <option key={one.id} value={one.id} disabled>
              {one.id} · {one.why ?? "not usable"}
            </option>
          ))}
        </optgroup>
      )}
    </SelectField>
  );
}

function priceHint({ price }: ModelOffer): string {
  const words = priceWords(price);
  return price === null || words === "free" ? words : `${words} for a million tokens`;
}

/** Said where work begins, as long as nothing but the built-in demo can answer. */
export function DemoNotice({ models }: { models: readonly ModelOffer[] }) {
  const usable = models.filter((model) => model.usable);
  if (usable.length === 0 || usable.some(({ provider }) => provider !== DEMO_PROVIDER)) return null;
  return (
    <div className="flex gap-2.5 rounded-xl bg-accent-soft px-3.5 py-3 text-[0.8125rem]">
      <Sparkles size={16} aria-hidden className="mt-0.5 shrink-0 text-accent" />
      <div className="min-w-0">
        <p className="font-medium">You're on the built-in demo model</p>
        <p className="mt-0.5 text-ink-soft">
          It plays real steps with real tools, from a script. To add a real one, set{" "}
          <Name>ANTHROPIC_API_KEY</Name> or <Name>OPENAI_API_KEY</Name>, or run Ollama, and restart.
        </p>
      </div>
    </div>
  );
}

function Name({ children }: { children: string }) {
  return <code className="font-mono text-[0.92em] whitespace-nowrap text-ink">{children}</code>;
}

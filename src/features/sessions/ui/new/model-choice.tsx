import { Link } from "@tanstack/react-router";
import { Sparkles } from "lucide-react";
import type { ModelCapability } from "#protocol/models.ts";
import { Button } from "#surfaces/web/kit/button.tsx";
import { SelectField } from "#surfaces/web/kit/field.tsx";
import { priceWords } from "#surfaces/web/kit/text/money-words.ts";

const DEMO_PROVIDER = "demo";
/** Option value that no model can have: all model names have a provider before a slash. */
const ADD = "add";

interface ModelChoiceProps {
  models: readonly ModelCapability[];
  /** Empty for automatic choice. */
  chosen: string;
  onChange: (model: string) => void;
  /** Undefined for people who may not add a model. */
  onAdd: (() => void) | undefined;
}

/** Chooses a model and shows its price per million tokens. */
export function ModelChoice({ models, chosen, onChange, onAdd }: ModelChoiceProps) {
  const model = models.find(({ id }) => id === chosen);
  const usable = models.filter((one) => one.usable);
  const lacking = models.filter((one) => !one.usable);
  return (
    <SelectField
      label="Model"
      hint={model ? priceHint(model) : undefined}
      name="model"
      value={chosen}
      onChange={({ target }) => (target.value === ADD ? onAdd?.() : onChange(target.value))}
    >
      <option value="">Automatic</option>
      {usable.map((one) => (
        <option key={one.id} value={one.id}>
          {one.id} · {priceWords(one.price)}
        </option>
      ))}
      {lacking.length > 0 && (
        <optgroup label="Unavailable">
          {lacking.map((one) => (
            <option key={one.id} value={one.id} disabled>
              {one.id} · {one.why ?? "unavailable"}
            </option>
          ))}
        </optgroup>
      )}
      {onAdd && <option value={ADD}>Add a model…</option>}
    </SelectField>
  );
}

function priceHint({ price }: ModelCapability): string {
  const words = priceWords(price);
  return price === null || words === "free" ? words : `${words} per million tokens`;
}

interface DemoNoticeProps {
  models: readonly ModelCapability[];
  onAdd: (() => void) | undefined;
}

/** Shown as long as only the built-in demo model is usable. */
export function DemoNotice({ models, onAdd }: DemoNoticeProps) {
  const usable = models.filter((model) => model.usable);
  if (usable.length === 0 || usable.some(({ provider }) => provider !== DEMO_PROVIDER)) return null;
  return (
    <div className="flex flex-wrap items-center gap-x-2.5 gap-y-2 rounded-xl bg-accent-soft px-3.5 py-3 text-[0.8125rem]">
      <Sparkles size={16} aria-hidden className="mt-0.5 shrink-0 self-start text-accent" />
      <div className="min-w-0 flex-1 basis-56">
        <p className="font-medium">You're on the built-in demo model</p>
        <p className="mt-0.5 text-ink-soft">
          It runs a script with real tools.{" "}
          {onAdd ? (
            "Add your own model to get real work done."
          ) : (
            <>
              An admin can{" "}
              <Link to="/models" search={true} className="underline underline-offset-2">
                add a real model
              </Link>
              .
            </>
          )}
        </p>
      </div>
      {onAdd && (
        <Button size="small" look="primary" className="max-sm:w-full" onClick={onAdd}>
          Add a model
        </Button>
      )}
    </div>
  );
}

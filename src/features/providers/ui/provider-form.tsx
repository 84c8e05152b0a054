import { clsx } from "clsx";
import { ChevronRight } from "lucide-react";
import { type FormEvent, type ReactNode, useId, useLayoutEffect, useRef, useState } from "react";
import type { Provider } from "#features/providers/contract.ts";
import { Button } from "#surfaces/web/kit/button.tsx";
import { TextField } from "#surfaces/web/kit/field.tsx";
import { PRESETS, type Preset, type Problems, type ProviderDraft } from "./presets.ts";

interface ProviderFormProps {
  preset: Preset;
  /** Undefined when the preset is fixed. */
  onChoose: ((preset: Preset) => void) | undefined;
  draft: ProviderDraft;
  onDraft: (change: Partial<ProviderDraft>) => void;
  before: Provider | undefined;
  problems: Problems;
  isHidden: boolean;
  onSubmit: (apiKey: string) => Promise<void>;
  onCancel: () => void;
  children: ReactNode;
}

/**
 * The key lives in its input and nowhere else until it is sent. No field has a name, so that even a
 * form sent by the browser itself would put nothing into the address.
 */
export function ProviderForm(props: ProviderFormProps) {
  const { preset, onChoose, draft, onDraft, before, problems, isHidden } = props;
  const keyInput = useRef<HTMLInputElement>(null);
  const needsKey = preset.key === "needed";
  useLayoutEffect(() => {
    if (needsKey) keyInput.current?.focus();
  }, [needsKey]);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void props.onSubmit(keyInput.current?.value.trim() ?? "");
  };
  const address = (
    <TextField
      label="URL"
      hint={preset.asksAddress ? undefined : "if not the default"}
      problem={problems.baseUrl}
      inputMode="url"
      spellCheck={false}
      autoComplete="off"
      placeholder={preset.baseUrl ?? "http://127.0.0.1:8000/v1"}
      value={draft.baseUrl}
      onChange={(event) => onDraft({ baseUrl: event.target.value })}
    />
  );
  return (
    <form
      method="post"
      aria-label="Model provider"
      className={clsx("space-y-3.5", isHidden && "hidden")}
      onSubmit={submit}
    >
      {onChoose && <Choice preset={preset} onChoose={onChoose} />}
      {preset.name === null && onChoose && (
        <TextField
          label="Name"
          hint="prefix of its models, as in house/llama"
          problem={problems.name}
          placeholder="house"
          spellCheck={false}
          autoComplete="off"
          maxLength={41}
          value={draft.name}
          onChange={(event) => onDraft({ name: event.target.value.toLowerCase() })}
        />
      )}
      {preset.asksAddress && address}
      <TextField
        key={preset.id}
        ref={keyInput}
        label="Key"
        hint={<KeyHint preset={preset} before={before} />}
        problem={problems.apiKey}
        type="password"
        autoComplete="off"
        spellCheck={false}
        data-1p-ignore
        data-lpignore="true"
        placeholder={before?.hasKey ? "unchanged" : undefined}
      />
      <More isOpen={problems.models !== undefined || (!preset.asksAddress && !!problems.baseUrl)}>
        {!preset.asksAddress && address}
        <TextField
          label="Models"
          hint="separated by commas; empty for all"
          problem={problems.models}
          spellCheck={false}
          autoComplete="off"
          value={draft.models.replaceAll("\n", ", ")}
          onChange={(event) => onDraft({ models: event.target.value })}
        />
      </More>
      {props.children}
      <div className="flex items-center justify-end gap-2 pt-1">
        <Button onClick={props.onCancel}>Cancel</Button>
        <Button type="submit" look="primary">
          {before ? "Save" : "Add"}
        </Button>
      </div>
    </form>
  );
}

function Choice({ preset, onChoose }: { preset: Preset; onChoose: (preset: Preset) => void }) {
  const group = useId();
  return (
    <fieldset className="grid grid-cols-2 gap-2">
      <legend className="sr-only">Provider</legend>
      {PRESETS.map((one) => (
        <label
          key={one.id}
          className="relative flex cursor-pointer flex-col rounded-lg border border-line px-3 py-2 last:col-span-2 hover:bg-hover has-checked:border-accent has-checked:bg-accent-soft has-focus-visible:outline-2 has-focus-visible:outline-offset-2 has-focus-visible:outline-accent"
        >
          <input
            type="radio"
            name={group}
            checked={one.id === preset.id}
            onChange={() => onChoose(one)}
            className="absolute opacity-0"
          />
          <span className="font-medium">{one.title}</span>
          <span className="text-xs text-ink-soft">{one.means}</span>
        </label>
      ))}
    </fieldset>
  );
}

function KeyHint({ preset, before }: { preset: Preset; before: Provider | undefined }) {
  if (before?.hasKey)
    return <>empty to keep the current key{before.keyEnd && `, ending in ${before.keyEnd}`}</>;
  if (preset.keysAt === null) return <>if required</>;
  return (
    <>
      create one at{" "}
      <a
        href={preset.keysAt}
        target="_blank"
        rel="noreferrer noopener"
        className="text-accent underline underline-offset-2"
      >
        {new URL(preset.keysAt).host}
      </a>
    </>
  );
}

function More({ isOpen, children }: { isOpen: boolean; children: ReactNode }) {
  const [wants, setWants] = useState(false);
  const isShown = wants || isOpen;
  return (
    <div className="space-y-3">
      <button
        type="button"
        aria-expanded={isShown}
        onClick={() => setWants(!isShown)}
        className="-ml-1 flex items-center gap-1 rounded-md px-1 text-xs text-ink-soft hover:text-ink"
      >
        <ChevronRight size={14} aria-hidden className={isShown ? "rotate-90" : undefined} />
        More
      </button>
      {isShown && children}
    </div>
  );
}

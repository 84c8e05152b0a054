import { useQuery } from "@tanstack/react-query";
import { type FormEvent, type KeyboardEvent, useLayoutEffect, useRef, useState } from "react";
import type { AnswerOf, ApiRoutes } from "#client/index.ts";
import { AddModel } from "#features/providers/ui/lazy-add-model.tsx";
import { useModels } from "#features/providers/ui/use-models.ts";
import type { ModelCapability } from "#protocol/models.ts";
import { titleFrom } from "#protocol/names/session-title.ts";
import { ApiError, api, messageOf } from "#surfaces/web/kit/api/api-client.ts";
import { keys } from "#surfaces/web/kit/api/query-keys.ts";
import { Button } from "#surfaces/web/kit/button.tsx";
import { InlineError, SelectField, TextArea, TextField } from "#surfaces/web/kit/field.tsx";
import { useIsAdmin } from "#surfaces/web/kit/hooks/use-me.ts";
import { useRepos } from "#surfaces/web/kit/hooks/use-settings.ts";
import { Suggestions } from "#surfaces/web/kit/suggestions.tsx";
import { filterFor } from "../list/list-search.ts";
import { useSessionList } from "../list/use-session-lists.ts";
import { KindChoice } from "./kind-choice.tsx";
import { DemoNotice, ModelChoice } from "./model-choice.tsx";
import { PersonaChoice } from "./persona-choice.tsx";
import { type NewSession, useCreateSession } from "./use-create-session.ts";
import {
  type PlaceProblems,
  placeOf,
  placeProblems,
  refusedPlace,
  WORKS_ON_NOTHING,
} from "./works-on.ts";
import { WorksOnFields } from "./works-on-fields.tsx";

/** Our own runtime: it works with any model and in its own workspace. */
const OWN_RUNTIME = "native";

export function NewSessionForm({ onCreated }: { onCreated: () => void }) {
  const [isAdding, setIsAdding] = useState(false);
  const [model, setModel] = useState("");
  const mayManage = useIsAdmin();
  const added = ([first]: ModelCapability[]) => first && setModel(first.id);
  // The dialog is outside of the form: submitting it must not submit the session.
  return (
    <>
      <Form
        model={model}
        onModel={setModel}
        onAddModel={mayManage ? () => setIsAdding(true) : undefined}
        onCreated={onCreated}
      />
      <AddModel isOpen={isAdding} onClose={() => setIsAdding(false)} onAdded={added} />
    </>
  );
}

interface FormProps {
  model: string;
  onModel: (model: string) => void;
  onAddModel: (() => void) | undefined;
  onCreated: () => void;
}

function Form({ model, onModel, onAddModel, onCreated }: FormProps) {
  const promptBox = useRef<HTMLTextAreaElement>(null);
  const [prompt, setPrompt] = useState("");
  const [title, setTitle] = useState("");
  const [runtime, setRuntime] = useState("");
  const [persona, setPersona] = useState("");
  const [isReview, setIsReview] = useState(false);
  const [works, setWorks] = useState(WORKS_ON_NOTHING);
  const [foundProblems, setFoundProblems] = useState<PlaceProblems>({});
  const models = useModels();
  const isOwn = runtime === "" || runtime === OWN_RUNTIME;
  const repos = useRepos(works.kind === "repo").data?.filter(({ enabled }) => enabled) ?? [];
  const repoNames = repos.map(({ fullName }) => fullName);
  const create = useCreateSession(onCreated);
  const isFirst = useIsFirstSession();
  const runtimes = useQuery({ queryKey: keys.runtimes, queryFn: () => api.runners.runtimes() });
  const choices = runtimes.data?.items ?? [];
  const isNothingAvailable = runtimes.isSuccess && !choices.some((choice) => choice.available);
  useLayoutEffect(() => promptBox.current?.focus(), []);

  const submit = () => {
    const problems = isOwn ? placeProblems(works, repoNames) : {};
    setFoundProblems(problems);
    if (Object.keys(problems).length > 0) return;
    const own: NewSession = isOwn ? { ...placeOf(works), ...(model && { model }) } : {};
    const isForOwn = Object.keys(own).length > 0;
    create.mutate({
      ...own,
      ...(persona !== "" && { personaSlug: persona }),
      ...(isReview && { kind: "review" as const }),
      ...requestOf(title, prompt, isForOwn ? OWN_RUNTIME : runtime),
    });
  };
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    submit();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || !(event.metaKey || event.ctrlKey)) return;
    event.preventDefault();
    if (!create.isPending) submit();
  };
  const refused = create.error instanceof ApiError ? refusedPlace(create.error, works.kind) : {};
  const isRefusedAtField = Object.keys(refused).length > 0;
  return (
    <form
      aria-label="New session"
      className="space-y-3.5"
      onSubmit={onSubmit}
      onKeyDown={onKeyDown}
    >
      <TextArea
        label="Prompt"
        name="prompt"
        placeholder="Describe the task and when it is done"
        ref={promptBox}
        rows={4}
        value={prompt}
        onChange={(event) => setPrompt(event.target.value)}
      />
      {isFirst && (
        <Suggestions
          onChoose={(text) => {
            setPrompt(text);
            promptBox.current?.focus();
          }}
        />
      )}
      <TextField
        label="Title"
        hint="optional; taken from the task if empty"
        name="title"
        maxLength={200}
        value={title}
        onChange={(event) => setTitle(event.target.value)}
      />
      <div className="grid gap-3.5 sm:grid-cols-2">
        {isOwn ? (
          <ModelChoice models={models} chosen={model} onChange={onModel} onAdd={onAddModel} />
        ) : (
          <SelectField label="Model" hint="default of the runtime" value="" disabled>
            <option value="">Automatic</option>
          </SelectField>
        )}
        <RuntimeChoice choices={choices} chosen={runtime} onChange={setRuntime} />
      </div>
      <div className="grid gap-3.5 sm:grid-cols-2">
        <PersonaChoice chosen={persona} onChange={setPersona} />
        <KindChoice isReview={isReview} onChange={setIsReview} />
      </div>
      {isOwn && (
        <WorksOnFields
          works={works}
          repoNames={repoNames}
          problems={{ ...refused, ...foundProblems }}
          onChange={(next) => {
            setWorks(next);
            setFoundProblems({});
            if (isRefusedAtField) create.reset();
          }}
        />
      )}
      {isOwn && <DemoNotice models={models} onAdd={onAddModel} />}
      {runtimes.isError && <InlineError>{messageOf(runtimes.error)}</InlineError>}
      {isNothingAvailable && (
        <InlineError>No runtime available. Start a runner that provides one.</InlineError>
      )}
      {create.isError && !isRefusedAtField && <InlineError>{messageOf(create.error)}</InlineError>}
      <div className="flex items-center justify-between gap-3">
        <p className="text-xs text-ink-faint max-sm:hidden">
          <kbd className="font-sans">Ctrl</kbd> + <kbd className="font-sans">Enter</kbd> to start
        </p>
        <Button
          type="submit"
          look="primary"
          className="max-sm:flex-1"
          disabled={create.isPending || isNothingAvailable}
        >
          {create.isPending ? "Starting…" : "Start session"}
        </Button>
      </div>
    </form>
  );
}

function requestOf(title: string, prompt: string, runtime: string): NewSession {
  const request: NewSession = {};
  const name = title.trim() || titleFrom(prompt);
  if (name) request.title = name;
  if (runtime !== "") request.runtime = runtime;
  if (prompt.trim() !== "") request.prompt = prompt;
  return request;
}

type Runtime = AnswerOf<ApiRoutes["runners"]["runtimes"]>["items"][number];

interface RuntimeChoiceProps {
  choices: readonly Runtime[];
  /** Empty for automatic choice. */
  chosen: string;
  onChange: (runtime: string) => void;
}

function RuntimeChoice({ choices, chosen, onChange }: RuntimeChoiceProps) {
  return (
    <SelectField
      label="Runtime"
      name="runtime"
      value={chosen}
      onChange={(event) => onChange(event.target.value)}
    >
      <option value="">Automatic</option>
      {choices.map(({ name, available, reason }) => (
        <option key={name} value={name} disabled={!available}>
          {available ? name : `${name} (${reason ?? "unavailable"})`}
        </option>
      ))}
    </SelectField>
  );
}

/** True before the person's first session; then suggestions are shown. */
function useIsFirstSession(): boolean {
  const list = useSessionList(filterFor({}));
  return list.data?.pages[0]?.items.every(({ isOrchestrator }) => isOrchestrator) ?? false;
}

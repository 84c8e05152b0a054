import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, type KeyboardEvent, useRef, useState } from "react";
import { api, type NewSession } from "#surfaces/web/kit/api.ts";
import { messageOf } from "#surfaces/web/kit/api-client.ts";
import { Button } from "#surfaces/web/kit/button.tsx";
import { InlineError, SelectField, TextArea, TextField } from "#surfaces/web/kit/field.tsx";
import { focusOnMount } from "#surfaces/web/kit/focus-on-mount.ts";
import { keys } from "#surfaces/web/kit/query-keys.ts";
import { randomId } from "#surfaces/web/kit/random-id.ts";
import { DemoNotice, ModelChoice, useModels } from "./model-choice.tsx";
import { SandboxWarning } from "./sandbox-state.tsx";
import { shareSession } from "./use-session-lists.ts";

/** The runtime that is ours: it works with any model. */
const OWN_RUNTIME = "native";

export function NewSessionForm({
  onCreated,
  takesFocus = true,
}: {
  onCreated?: () => void;
  takesFocus?: boolean;
}) {
  const [prompt, setPrompt] = useState("");
  const [title, setTitle] = useState("");
  const [runtime, setRuntime] = useState("");
  const [model, setModel] = useState("");
  const runtimes = useQuery({ queryKey: keys.runtimes, queryFn: api.listRuntimes });
  const models = useModels();
  const choices = runtimes.data?.items ?? [];
  const takesModel = runtime === "" || runtime === OWN_RUNTIME;
  const create = useCreateSession(onCreated);

  const submit = () => {
    const body: NewSession = {};
    if (title.trim() !== "") body.title = title.trim();
    if (runtime !== "") body.runtime = runtime;
    if (takesModel && model !== "") {
      body.model = model;
      body.runtime = OWN_RUNTIME;
    }
    if (prompt.trim() !== "") body.prompt = prompt;
    create.mutate(body);
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
  const isNothingAvailable = runtimes.isSuccess && !choices.some((choice) => choice.available);
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
        placeholder="Describe the task and what counts as done"
        ref={takesFocus ? focusOnMount : null}
        rows={5}
        value={prompt}
        onChange={(event) => setPrompt(event.target.value)}
      />
      <TextField
        label="Title"
        hint="optional"
        name="title"
        maxLength={200}
        value={title}
        onChange={(event) => setTitle(event.target.value)}
      />
      <div className="grid gap-3.5 sm:grid-cols-2">
        {takesModel ? (
          <ModelChoice models={models} chosen={model} onChange={setModel} />
        ) : (
          <SelectField label="Model" hint="the runtime's own" value="" disabled>
            <option value="">Automatic</option>
          </SelectField>
        )}
        <SelectField
          label="Runtime"
          name="runtime"
          value={runtime}
          onChange={(event) => setRuntime(event.target.value)}
        >
          <option value="">Automatic</option>
          {choices.map((choice) => (
            <option key={choice.name} value={choice.name} disabled={!choice.available}>
              {choice.available
                ? choice.name
                : `${choice.name} (${choice.reason ?? "not available"})`}
            </option>
          ))}
        </SelectField>
      </div>
      <SandboxWarning />
      {takesModel && <DemoNotice models={models} />}
      {runtimes.isError && <InlineError>{messageOf(runtimes.error)}</InlineError>}
      {isNothingAvailable && (
        <InlineError>No runtime is available. Start a runner that offers one.</InlineError>
      )}
      {create.isError && <InlineError>{messageOf(create.error)}</InlineError>}
      <div className="flex items-center justify-between gap-3">
        <p className="text-xs text-ink-faint max-sm:hidden">
          <kbd className="font-sans">Ctrl</kbd> + <kbd className="font-sans">Enter</kbd> starts it
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

function useCreateSession(onCreated: (() => void) | undefined) {
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  // The same form sent again is the same session; a changed form is another one.
  const sent = useRef({ body: "", key: "" });
  return useMutation({
    mutationFn: (body: NewSession) => {
      const text = JSON.stringify(body);
      if (sent.current.body !== text) sent.current = { body: text, key: randomId() };
      return api.createSession(body, sent.current.key);
    },
    onSuccess: async ({ session }) => {
      sent.current = { body: "", key: "" };
      shareSession(queryClient, session);
      onCreated?.();
      await navigate({
        to: "/sessions/$sessionId",
        params: { sessionId: session.id },
        search: true,
      });
    },
  });
}

import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { ChevronLeft } from "lucide-react";
import { type FormEvent, useEffect, useRef, useState } from "react";
import type { Persona } from "#features/personas/contract.ts";
import { useModels } from "#features/providers/ui/use-models.ts";
import { api } from "#surfaces/web/kit/api/api-client.ts";
import { keys } from "#surfaces/web/kit/api/query-keys.ts";
import { Button } from "#surfaces/web/kit/button.tsx";
import { InlineError, SelectField, TextField } from "#surfaces/web/kit/field.tsx";
import { useMe } from "#surfaces/web/kit/hooks/use-me.ts";
import {
  NO_PROBLEMS,
  type Problems,
  refusedFields,
  stillWrong,
} from "#surfaces/web/kit/settings/field-problems.ts";
import { LoadProblem } from "#surfaces/web/kit/settings/parts.tsx";
import { useChange } from "#surfaces/web/kit/settings/use-change.ts";
import {
  bodyOf,
  draftOf,
  isFieldOfPersona,
  NEW_PERSONA,
  newDraft,
  type PersonaDraft,
  problemsOf,
} from "./persona-draft.ts";
import { PersonaFiles } from "./persona-files.tsx";
import { PersonaRules } from "./persona-rules.tsx";
import { PersonaSkills } from "./persona-skills.tsx";
import { PersonaVersions } from "./persona-versions.tsx";

/** Creates or edits one persona; read-only for people who may not edit it. */
export function PersonaEditor() {
  const { personaId } = useParams({ from: "/app/settings/personas/$personaId" });
  const orgId = useMe()?.org.id ?? "";
  const found = useQuery({
    queryKey: keys.persona(personaId),
    queryFn: async ({ signal }) =>
      (await api.personas.get({ orgId, id: personaId }, { signal })).persona,
    enabled: personaId !== NEW_PERSONA,
  });
  const isNew = personaId === NEW_PERSONA;
  return (
    <div className="space-y-5">
      <Link
        to="/settings/personas"
        search={true}
        className="inline-flex items-center gap-1 text-xs text-ink-soft hover:text-ink"
      >
        <ChevronLeft size={15} aria-hidden />
        All personas
      </Link>
      {found.isError && <LoadProblem error={found.error} onRetry={() => void found.refetch()} />}
      {(isNew || found.data) && <Editor key={personaId} orgId={orgId} saved={found.data} />}
      {found.data && <PersonaVersions persona={found.data} />}
    </div>
  );
}

interface EditorProps {
  orgId: string;
  /** Undefined for a new persona. */
  saved: Persona | undefined;
}

function Editor({ orgId, saved }: EditorProps) {
  // Version that the draft is based on: the server must notice when somebody else saves meanwhile.
  const [base, setBase] = useState(saved);
  const [draft, setDraft] = useState(() => (saved ? draftOf(saved) : newDraft()));
  const [problems, setProblems] = useState(NO_PROBLEMS);
  const form = useRef<HTMLFormElement>(null);
  const navigate = useNavigate();
  const mayEdit = base === undefined || base.mayEdit;
  const save = useChange(
    (wanted: PersonaDraft) => {
      const body = bodyOf(wanted, base?.version);
      return base
        ? api.personas.update({ orgId, id: base.id, body })
        : api.personas.create({ orgId, body });
    },
    {
      stale: keys.personas,
      done: (_, { persona }) => `Saved ${persona.name} as version ${persona.version}`,
      onDone: ({ persona }) => {
        setBase(persona);
        setDraft(draftOf(persona));
        if (base) return;
        void navigate({
          to: "/settings/personas/$personaId",
          params: { personaId: persona.id },
          search: true,
          replace: true,
        });
      },
    },
  );
  const refused = save.isError ? refusedFields(save.error, isFieldOfPersona) : undefined;
  const shown = { ...refused?.fields, ...problems };
  const count = Object.keys(shown).length;
  useEffect(() => {
    if (count > 0) form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [count]);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const found = problemsOf(draft);
    setProblems(found);
    if (Object.keys(found).length === 0) save.mutate(draft);
  };
  const change = (next: PersonaDraft) => {
    setDraft(next);
    // Marked problems stay until they are fixed; typing marks no new ones.
    setProblems((now) => stillWrong(now, problemsOf(next)));
    if (save.isError) save.reset();
  };
  return (
    <>
      <form ref={form} aria-label="Persona" onSubmit={submit}>
        <fieldset disabled={!mayEdit || save.isPending} className="min-w-0 space-y-5">
          <legend className="mb-3 text-lg font-semibold">{base?.name ?? "New persona"}</legend>
          {!mayEdit && <p className="text-ink-soft">Only its creator or an admin can change it.</p>}
          <PersonaFields
            draft={draft}
            problems={shown}
            onChange={(said) => change({ ...draft, ...said })}
          />
          <PersonaFiles draft={draft} problems={shown} onChange={change} />
          <PersonaRules draft={draft} problems={shown} onChange={change} />
          {refused?.rest !== undefined && <InlineError>{refused.rest}</InlineError>}
          {mayEdit && (
            <Button type="submit" look="primary">
              {save.isPending ? "Saving…" : base ? "Save" : "Create persona"}
            </Button>
          )}
        </fieldset>
      </form>
      {base && (
        <PersonaSkills
          persona={base}
          // Another person's version in between must still be noticed when the form is saved.
          onChange={(next) => setBase((now) => (isNext(now, next) ? next : now))}
        />
      )}
    </>
  );
}

function isNext(now: Persona | undefined, next: Persona): boolean {
  return now !== undefined && next.version <= now.version + 1;
}

interface PersonaFieldsProps {
  draft: PersonaDraft;
  problems: Problems;
  onChange: (change: Partial<PersonaDraft>) => void;
}

function PersonaFields({ draft, problems, onChange }: PersonaFieldsProps) {
  const usable = useModels().flatMap(({ id, usable }) => (usable ? [id] : []));
  const runtimes = useQuery({ queryKey: keys.runtimes, queryFn: () => api.runners.runtimes() });
  const offered = runtimes.data?.items.map(({ name }) => name) ?? [];
  return (
    <div className="grid items-start gap-3.5 sm:grid-cols-2">
      <TextField
        label="Name"
        maxLength={100}
        problem={problems.name}
        value={draft.name}
        onChange={(event) => onChange({ name: event.target.value })}
      />
      <TextField
        label="Description"
        hint="optional"
        maxLength={500}
        problem={problems.description}
        value={draft.description}
        onChange={(event) => onChange({ description: event.target.value })}
      />
      <SelectField
        label="Visibility"
        value={draft.visibility}
        onChange={(event) =>
          onChange({ visibility: event.target.value as PersonaDraft["visibility"] })
        }
      >
        <option value="private">Private: only you</option>
        <option value="shared">Shared: everyone in the organisation</option>
      </SelectField>
      <SelectField
        label="Model"
        hint="unless a session chooses another"
        value={draft.model}
        onChange={(event) => onChange({ model: event.target.value })}
      >
        <Choices chosen={draft.model} offered={usable} />
      </SelectField>
      <SelectField
        label="Runtime"
        hint="unless a session chooses another"
        value={draft.runtime}
        onChange={(event) => onChange({ runtime: event.target.value })}
      >
        <Choices chosen={draft.runtime} offered={offered} />
      </SelectField>
    </div>
  );
}

/** Keeps the current choice listed even while no runner offers it. */
function Choices({ chosen, offered }: { chosen: string; offered: readonly string[] }) {
  const isGone = chosen !== "" && !offered.includes(chosen);
  return (
    <>
      <option value="">Automatic</option>
      {isGone && <option value={chosen}>{chosen} (unavailable)</option>}
      {offered.map((name) => (
        <option key={name} value={name}>
          {name}
        </option>
      ))}
    </>
  );
}

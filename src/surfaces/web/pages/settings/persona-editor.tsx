import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { ChevronLeft } from "lucide-react";
import { type FormEvent, useState } from "react";
import type { Persona } from "#features/personas/contract.ts";
import { messageOf } from "#surfaces/web/kit/api-client.ts";
import { Button } from "#surfaces/web/kit/button.tsx";
import { InlineError, SelectField, TextField } from "#surfaces/web/kit/field.tsx";
import { plural } from "#surfaces/web/kit/money-words.ts";
import { keys } from "#surfaces/web/kit/query-keys.ts";
import { settingsApi } from "#surfaces/web/kit/settings-api.ts";
import { useMe } from "#surfaces/web/kit/use-me.ts";
import { useModels } from "#surfaces/web/pages/models/use-models.ts";
import { LoadProblem } from "./parts.tsx";
import {
  bodyOf,
  draftOf,
  NEW_PERSONA,
  newDraft,
  type PersonaDraft,
  problemOf,
} from "./persona-draft.ts";
import { PersonaFiles } from "./persona-files.tsx";
import { PersonaVersions } from "./persona-versions.tsx";
import { useChange } from "./use-change.ts";

/** One persona to be written, changed, or only read by who may not change it. */
export function PersonaEditor() {
  const { personaId } = useParams({ from: "/app/settings/personas/$personaId" });
  const orgId = useMe()?.org.id ?? "";
  const found = useQuery({
    queryKey: keys.persona(personaId),
    queryFn: async ({ signal }) => (await settingsApi.getPersona(orgId, personaId, signal)).persona,
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
  /** Undefined for a new one. */
  saved: Persona | undefined;
}

function Editor({ orgId, saved }: EditorProps) {
  // What the draft began with: when somebody else saves meanwhile, the server must notice it.
  const [base, setBase] = useState(saved);
  const [draft, setDraft] = useState(() => (saved ? draftOf(saved) : newDraft()));
  const [problem, setProblem] = useState<string>();
  const navigate = useNavigate();
  const mayEdit = base === undefined || base.mayEdit;
  const save = useChange(
    (wanted: PersonaDraft) => {
      const body = bodyOf(wanted, base?.version);
      return base
        ? settingsApi.changePersona(orgId, base.id, body)
        : settingsApi.createPersona(orgId, body);
    },
    {
      stale: keys.personas,
      done: (_, { persona }) => `${persona.name} is saved as version ${persona.version}`,
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
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const found = problemOf(draft);
    setProblem(found);
    if (found === undefined) save.mutate(draft);
  };
  const set = (change: Partial<PersonaDraft>) => setDraft((now) => ({ ...now, ...change }));
  return (
    <form aria-label="Persona" onSubmit={submit}>
      <fieldset disabled={!mayEdit || save.isPending} className="min-w-0 space-y-4">
        <legend className="mb-3 text-lg font-semibold">{base?.name ?? "New persona"}</legend>
        {!mayEdit && <p className="text-ink-soft">Only who made it, or an admin, can change it.</p>}
        <Particulars draft={draft} onChange={set} />
        <PersonaFiles draft={draft} onChange={setDraft} />
        {base && <AlsoIn persona={base} />}
        {problem !== undefined && <InlineError>{problem}</InlineError>}
        {save.isError && <InlineError>{messageOf(save.error)}</InlineError>}
        {mayEdit && (
          <Button type="submit" look="primary">
            {save.isPending ? "Saving…" : base ? "Save" : "Create persona"}
          </Button>
        )}
      </fieldset>
    </form>
  );
}

interface ParticularsProps {
  draft: PersonaDraft;
  onChange: (change: Partial<PersonaDraft>) => void;
}

function Particulars({ draft, onChange }: ParticularsProps) {
  const usable = useModels().flatMap(({ id, usable }) => (usable ? [id] : []));
  // The one it has stays chosen, even while nobody offers it.
  const models = new Set(draft.model === "" ? usable : [draft.model, ...usable]);
  return (
    <div className="grid gap-3.5 sm:grid-cols-2">
      <TextField
        label="Name"
        maxLength={100}
        value={draft.name}
        onChange={(event) => onChange({ name: event.target.value })}
      />
      <TextField
        label="Description"
        hint="optional"
        maxLength={500}
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
        <option value="shared">Shared: everybody in the organisation</option>
      </SelectField>
      <SelectField
        label="Model"
        value={draft.model}
        onChange={(event) => onChange({ model: event.target.value })}
      >
        <option value="">Automatic</option>
        {[...models].map((model) => (
          <option key={model} value={model}>
            {model}
          </option>
        ))}
      </SelectField>
    </div>
  );
}

/** What is not edited here is not lost by saving. */
function AlsoIn({ persona: { skills, toolPolicy } }: { persona: Persona }) {
  const parts = [
    skills.length > 0 &&
      `${plural(skills.length, "skill")} (${skills.map(({ name }) => name).join(", ")})`,
    toolPolicy.length > 0 && plural(toolPolicy.length, "rule"),
  ].filter(Boolean);
  if (parts.length === 0) return null;
  return <p className="text-xs text-ink-faint">It also has {parts.join(" and ")}; they stay.</p>;
}

import { Download, RefreshCw } from "lucide-react";
import { type FormEvent, useState } from "react";
import type { Persona, Skill } from "#features/personas/contract.ts";
import { api, messageOf } from "#surfaces/web/kit/api/api-client.ts";
import { keys } from "#surfaces/web/kit/api/query-keys.ts";
import { Button, IconButton } from "#surfaces/web/kit/button.tsx";
import { InlineError, TextField } from "#surfaces/web/kit/field.tsx";
import { useMe } from "#surfaces/web/kit/hooks/use-me.ts";
import { List, Remove, Row, Section } from "#surfaces/web/kit/settings/parts.tsx";
import { useChange } from "#surfaces/web/kit/settings/use-change.ts";
import { plural } from "#surfaces/web/kit/text/money-words.ts";
import { Verbatim } from "#surfaces/web/kit/text/verbatim.tsx";
import {
  fieldOfImport,
  type ImportDraft,
  importBodyOf,
  importedWords,
  NO_IMPORT,
  type SkillImport,
  sourceWords,
} from "./skill-words.ts";

interface PersonaSkillsProps {
  persona: Persona;
  onChange: (persona: Persona) => void;
}

/** Lists a persona's skills. Each change is saved at once as a new version. */
export function PersonaSkills({ persona, onChange }: PersonaSkillsProps) {
  const { skills, slug, mayEdit } = persona;
  const found = { data: skills, error: null, refetch: () => {} };
  return (
    <Section
      title="Skills"
      text="Folders with a SKILL.md. Sessions with this persona find them in .muster/skills/."
    >
      <List
        found={found}
        empty={
          mayEdit ? "No skills yet. Import one below." : "No skills. Its creator can import them."
        }
      >
        {(skill) => <SkillRow key={skill.name} {...{ persona, skill, onChange }} />}
      </List>
      {mayEdit && (
        <>
          <ImportSkills persona={persona} onChange={onChange} />
          <p className="text-xs text-ink-faint">
            From a folder on your machine:{" "}
            <code className="font-mono [overflow-wrap:anywhere]">
              muster personas skills add {slug} FOLDER
            </code>
          </p>
        </>
      )}
    </Section>
  );
}

interface SkillRowProps extends PersonaSkillsProps {
  skill: Skill;
}

function SkillRow({ persona, skill, onChange }: SkillRowProps) {
  const orgId = useMe()?.org.id ?? "";
  const { name, description, source, sha256, files } = skill;
  const remove = useChange(() => api.personas.deleteSkill({ orgId, id: persona.id, name }), {
    stale: keys.personas,
    done: () => `Removed ${name}`,
    failed: `Couldn't remove ${name}`,
    onDone: (answer) => onChange(answer.persona),
  });
  const again = useChange(
    (body: SkillImport) => api.personas.importSkills({ orgId, id: persona.id, body }),
    {
      stale: keys.personas,
      done: (_, { skills }) => importedWords(skills),
      failed: `Couldn't update ${name}`,
      onDone: (answer) => onChange(answer.persona),
    },
  );
  return (
    <Row
      name={<span className="font-mono text-xs">{name}</span>}
      text={
        <>
          <span className="block text-ink-soft">{description}</span>
          <span className="block">{sourceWords(source, sha256)}</span>
        </>
      }
      more={<SkillFiles skill={name} files={files} />}
    >
      {persona.mayEdit && source !== null && (
        <IconButton
          size="small"
          label={`Update ${name}`}
          disabled={again.isPending}
          onClick={() =>
            again.mutate(
              importBodyOf({ url: source.url, ref: source.ref ?? "", path: source.path }),
            )
          }
        >
          <RefreshCw size={15} aria-hidden className={again.isPending ? "animate-spin" : ""} />
        </IconButton>
      )}
      {persona.mayEdit && (
        <Remove
          label={`Remove ${name}`}
          text="New sessions with this persona won't have it. Existing sessions keep it."
          action="Remove"
          isBusy={remove.isPending}
          onConfirm={() => remove.mutate(undefined)}
        />
      )}
    </Row>
  );
}

/** Shows the files that an agent will read and may run, for review. */
function SkillFiles({ skill, files }: { skill: string; files: Skill["files"] }) {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <details
      className="mt-1 w-full pr-1.5 text-xs"
      onToggle={(event) => setIsOpen(event.currentTarget.open)}
    >
      <summary className="cursor-pointer text-ink-soft hover:text-ink">
        {plural(files.length, "file")}
      </summary>
      {isOpen &&
        files.map(({ path, content }) => (
          <div key={path} className="mt-2 space-y-1">
            <p className="font-mono [overflow-wrap:anywhere]">{path}</p>
            <Verbatim label={`${path} of ${skill}`} text={content} />
          </div>
        ))}
    </details>
  );
}

function ImportSkills({ persona, onChange }: PersonaSkillsProps) {
  const orgId = useMe()?.org.id ?? "";
  const [draft, setDraft] = useState(NO_IMPORT);
  const take = useChange(
    (wanted: ImportDraft) =>
      api.personas.importSkills({ orgId, id: persona.id, body: importBodyOf(wanted) }),
    {
      stale: keys.personas,
      onDone: (answer) => {
        onChange(answer.persona);
        setDraft(NO_IMPORT);
      },
    },
  );
  const field = fieldOfImport(take.error);
  const problemAt = (name: keyof ImportDraft) =>
    take.isError && field === name ? messageOf(take.error) : undefined;
  const set = (change: Partial<ImportDraft>) => {
    setDraft((now) => ({ ...now, ...change }));
    if (take.isError) take.reset();
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (draft.url.trim() !== "" && !take.isPending) take.mutate(draft);
  };
  return (
    <form
      aria-label="Import skills"
      className="space-y-3 rounded-xl border border-line bg-raised p-3.5"
      onSubmit={submit}
    >
      <TextField
        label="Git URL"
        hint="public, https"
        inputMode="url"
        spellCheck={false}
        maxLength={2_000}
        placeholder="https://github.com/acme/skills"
        problem={problemAt("url")}
        value={draft.url}
        onChange={(event) => set({ url: event.target.value })}
      />
      <div className="grid items-start gap-3 sm:grid-cols-2">
        <TextField
          label="Branch, tag or commit"
          hint="optional"
          spellCheck={false}
          maxLength={250}
          placeholder="main"
          problem={problemAt("ref")}
          value={draft.ref}
          onChange={(event) => set({ ref: event.target.value })}
        />
        <TextField
          label="Folder in the repository"
          hint="optional"
          spellCheck={false}
          maxLength={300}
          placeholder="skills/pdf"
          problem={problemAt("path")}
          value={draft.path}
          onChange={(event) => set({ path: event.target.value })}
        />
      </div>
      {take.isError && field === undefined && <InlineError>{messageOf(take.error)}</InlineError>}
      <div className="flex flex-wrap items-center gap-3">
        <Button type="submit" disabled={take.isPending || draft.url.trim() === ""}>
          <Download size={15} aria-hidden />
          {take.isPending ? "Fetching…" : "Import"}
        </Button>
        <p role="status" className="min-w-0 flex-1 text-xs text-ink-soft">
          {take.data ? importedWords(take.data.skills) : ""}
        </p>
      </div>
    </form>
  );
}

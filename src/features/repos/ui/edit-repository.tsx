import { type FormEvent, useEffect, useId, useRef, useState } from "react";
import type { Repo, RepoChange } from "#features/repos/contract.ts";
import { api } from "#surfaces/web/kit/api/api-client.ts";
import { keys } from "#surfaces/web/kit/api/query-keys.ts";
import { Button } from "#surfaces/web/kit/button.tsx";
import { Modal } from "#surfaces/web/kit/dialog.tsx";
import { InlineError, SelectField, TextArea, TextField } from "#surfaces/web/kit/field.tsx";
import { useMe } from "#surfaces/web/kit/hooks/use-me.ts";
import { useOrgSecrets, usePersonas } from "#surfaces/web/kit/hooks/use-settings.ts";
import {
  NO_PROBLEMS,
  type Problems,
  refusedFields,
  stillWrong,
} from "#surfaces/web/kit/settings/field-problems.ts";
import { useChange } from "#surfaces/web/kit/settings/use-change.ts";
import {
  draftOfRepo,
  isFieldOfRepo,
  type RepoDraft,
  repoBodyOf,
  repoProblems,
} from "./repo-draft.ts";

interface EditRepositoryProps {
  repo: Repo;
  isOpen: boolean;
  onClose: () => void;
}

/** Edits a repository's settings. Its name is fixed, because people and sessions refer to it. */
export function EditRepository({ repo, isOpen, onClose }: EditRepositoryProps) {
  return (
    <Modal title={`Edit ${repo.fullName}`} isOpen={isOpen} onClose={onClose}>
      <EditForm repo={repo} onClose={onClose} />
    </Modal>
  );
}

function EditForm({ repo, onClose }: Omit<EditRepositoryProps, "isOpen">) {
  const orgId = useMe()?.org.id ?? "";
  const [draft, setDraft] = useState(() => draftOfRepo(repo));
  const [problems, setProblems] = useState(NO_PROBLEMS);
  const form = useRef<HTMLFormElement>(null);
  const save = useChange((body: RepoChange) => api.repos.update({ orgId, repoId: repo.id, body }), {
    stale: keys.repos,
    done: () => `Saved ${repo.fullName}`,
    onDone: onClose,
  });
  const refused = save.isError ? refusedFields(save.error, isFieldOfRepo) : undefined;
  const shown = { ...refused?.fields, ...problems };
  const count = Object.keys(shown).length;
  useEffect(() => {
    if (count > 0) form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [count]);
  const set = (change: Partial<RepoDraft>) => {
    const next = { ...draft, ...change };
    setDraft(next);
    setProblems((now) => stillWrong(now, repoProblems(next)));
    if (save.isError) save.reset();
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const found = repoProblems(draft);
    setProblems(found);
    if (Object.keys(found).length === 0) save.mutate(repoBodyOf(repo, draft));
  };
  return (
    <form ref={form} aria-label="Repository" className="space-y-3.5" onSubmit={submit}>
      <p className="text-xs [overflow-wrap:anywhere] text-ink-faint">{repo.url}</p>
      <TextField
        label="Description"
        hint="optional"
        maxLength={2_000}
        problem={shown.description}
        value={draft.description}
        onChange={(event) => set({ description: event.target.value })}
      />
      <div className="grid items-start gap-3.5 sm:grid-cols-2">
        <TextField
          label="Branch"
          hint="empty for the repository's default"
          spellCheck={false}
          maxLength={250}
          placeholder="main"
          problem={shown.defaultBranch}
          value={draft.defaultBranch}
          onChange={(event) => set({ defaultBranch: event.target.value })}
        />
        <PersonaField chosen={draft.personaSlug} onChange={(personaSlug) => set({ personaSlug })} />
      </div>
      <TextArea
        label="Setup command"
        hint="runs once in each new workspace"
        rows={2}
        spellCheck={false}
        maxLength={4_000}
        className="font-mono text-xs"
        placeholder="npm ci"
        problem={shown.setupCommand}
        value={draft.setupCommand}
        onChange={(event) => set({ setupCommand: event.target.value })}
      />
      <CredentialField
        value={draft.credential}
        problem={shown.credential}
        onChange={(credential) => set({ credential })}
      />
      <WebhookFields repo={repo} draft={draft} problems={shown} onChange={set} />
      {refused?.rest !== undefined && <InlineError>{refused.rest}</InlineError>}
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" look="primary" disabled={save.isPending}>
          {save.isPending ? "Saving…" : "Save"}
        </Button>
      </div>
    </form>
  );
}

/** Offers shared personas only, because everybody's sessions get it. */
function PersonaField({ chosen, onChange }: { chosen: string; onChange: (slug: string) => void }) {
  const shared = (usePersonas().data ?? []).filter(({ visibility }) => visibility === "shared");
  const isGone = chosen !== "" && !shared.some(({ slug }) => slug === chosen);
  return (
    <SelectField
      label="Persona"
      hint="unless a session chooses another"
      value={chosen}
      onChange={(event) => onChange(event.target.value)}
    >
      <option value="">Default</option>
      {isGone && <option value={chosen}>{chosen} (deleted)</option>}
      {shared.map((persona) => (
        <option key={persona.id} value={persona.slug}>
          {persona.name}
        </option>
      ))}
    </SelectField>
  );
}

interface CredentialFieldProps {
  value: string;
  problem?: string | undefined;
  onChange: (name: string) => void;
}

/** Asks for the name of a secret, never for a token: this value is stored and shown. */
export function CredentialField({ value, problem, onChange }: CredentialFieldProps) {
  const list = useId();
  const names = (useOrgSecrets().data ?? []).map(({ name }) => name);
  return (
    <>
      <TextField
        label="Secret"
        hint="optional; name of the secret with access"
        spellCheck={false}
        autoComplete="off"
        autoCapitalize="none"
        maxLength={64}
        placeholder="GITHUB_TOKEN"
        list={list}
        problem={problem}
        value={value}
        onChange={(event) => onChange(event.target.value)}
      />
      <datalist id={list}>
        {names.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
    </>
  );
}

interface WebhookFieldsProps {
  repo: Repo;
  draft: RepoDraft;
  problems: Problems;
  onChange: (change: Partial<RepoDraft>) => void;
}

function WebhookFields({ repo, draft, problems, onChange }: WebhookFieldsProps) {
  return (
    <div className="space-y-1.5">
      <TextField
        label="Webhook secret"
        hint={repo.hasWebhookSecret ? "set; enter a new one to replace it" : "optional"}
        type="password"
        autoComplete="new-password"
        spellCheck={false}
        maxLength={200}
        disabled={draft.dropsWebhookSecret}
        problem={problems.webhookSecret}
        value={draft.webhookSecret}
        onChange={(event) => onChange({ webhookSecret: event.target.value })}
      />
      {repo.hasWebhookSecret && (
        <label className="flex items-center gap-1.5 text-xs">
          <input
            type="checkbox"
            checked={draft.dropsWebhookSecret}
            onChange={(event) =>
              onChange({ dropsWebhookSecret: event.target.checked, webhookSecret: "" })
            }
          />
          Remove the webhook secret
        </label>
      )}
    </div>
  );
}

import { useState } from "react";
import type { Repo } from "#features/repos/contract.ts";
import { Button } from "#surfaces/web/kit/button.tsx";
import { keys } from "#surfaces/web/kit/query-keys.ts";
import { type RepoBody, settingsApi } from "#surfaces/web/kit/settings-api.ts";
import { useIsAdmin, useMe } from "#surfaces/web/kit/use-me.ts";
import { usePersonas, useRepos } from "#surfaces/web/kit/use-settings.ts";
import { AddRepository, SyncRepositories } from "./add-repository.tsx";
import { List, Remove, Row, Section } from "./parts.tsx";
import { useChange } from "./use-change.ts";

/** The repositories that sessions may name. */
export function RepositoriesTab() {
  const found = useRepos();
  const isAdmin = useIsAdmin();
  const [isSyncing, setIsSyncing] = useState(false);
  return (
    <>
      {isAdmin && <AddRepository />}
      <Section
        title="Repositories"
        text={
          isAdmin
            ? "Sessions may use those that are enabled, by name."
            : "Sessions may use those that are enabled, by name. Admins can change them."
        }
        aside={
          isAdmin && (
            <Button size="small" onClick={() => setIsSyncing(true)}>
              Sync from GitHub
            </Button>
          )
        }
      >
        <List found={found} empty="None yet. An admin can add one by its address.">
          {(repo) => <RepoRow key={repo.id} repo={repo} isAdmin={isAdmin} />}
        </List>
      </Section>
      <SyncRepositories isOpen={isSyncing} onClose={() => setIsSyncing(false)} />
    </>
  );
}

function RepoRow({ repo, isAdmin }: { repo: Repo; isAdmin: boolean }) {
  const orgId = useMe()?.org.id ?? "";
  const { id, fullName, url, enabled, personaSlug, credential } = repo;
  const change = useChange((body: RepoBody) => settingsApi.changeRepo(orgId, id, body), {
    stale: keys.repos,
    failed: `${fullName} was not changed`,
  });
  const remove = useChange(() => settingsApi.removeRepo(orgId, id), {
    stale: keys.repos,
    done: () => `${fullName} was removed`,
    failed: `${fullName} was not removed`,
  });
  const said = [url, !enabled && "off", credential && `opened with ${credential}`];
  return (
    <Row name={fullName} text={said.filter(Boolean).join(" · ")} problem={repo.problem}>
      {isAdmin ? (
        <>
          <label className="flex items-center gap-1.5 text-xs">
            <input
              type="checkbox"
              aria-label={`${fullName} enabled`}
              checked={enabled}
              disabled={change.isPending}
              onChange={(event) => change.mutate({ enabled: event.target.checked })}
            />
            Enabled
          </label>
          <DefaultPersona
            name={fullName}
            chosen={personaSlug}
            isBusy={change.isPending}
            onChange={(slug) => change.mutate({ personaSlug: slug })}
          />
          <Remove
            label={`Remove ${fullName}`}
            text="Sessions can no longer name it. Those that work on it go on, and the repository itself is not touched."
            action="Remove"
            isBusy={remove.isPending}
            onConfirm={() => remove.mutate(undefined)}
          />
        </>
      ) : (
        personaSlug && <span className="text-xs text-ink-soft">persona {personaSlug}</span>
      )}
    </Row>
  );
}

interface DefaultPersonaProps {
  name: string;
  chosen: string | null;
  isBusy: boolean;
  onChange: (slug: string | null) => void;
}

/** Everybody's sessions get it, so only shared ones are offered. */
function DefaultPersona({ name, chosen, isBusy, onChange }: DefaultPersonaProps) {
  const shared = (usePersonas().data ?? []).filter(({ visibility }) => visibility === "shared");
  const isGone = chosen !== null && !shared.some(({ slug }) => slug === chosen);
  return (
    <select
      aria-label={`Persona for ${name}`}
      className="h-7 max-w-44 rounded-lg border border-line-strong bg-page px-2 text-xs"
      value={chosen ?? ""}
      disabled={isBusy}
      onChange={(event) => onChange(event.target.value === "" ? null : event.target.value)}
    >
      <option value="">Usual persona</option>
      {isGone && <option value={chosen}>{chosen} (gone)</option>}
      {shared.map((persona) => (
        <option key={persona.id} value={persona.slug}>
          {persona.name}
        </option>
      ))}
    </select>
  );
}

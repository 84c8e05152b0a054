import { useState } from "react";
import type { Repo, RepoChange } from "#features/repos/contract.ts";
import { api } from "#surfaces/web/kit/api/api-client.ts";
import { keys } from "#surfaces/web/kit/api/query-keys.ts";
import { Button } from "#surfaces/web/kit/button.tsx";
import { useIsAdmin, useMe } from "#surfaces/web/kit/hooks/use-me.ts";
import { useRepos } from "#surfaces/web/kit/hooks/use-settings.ts";
import { List, Remove, Row, Section } from "#surfaces/web/kit/settings/parts.tsx";
import { useChange } from "#surfaces/web/kit/settings/use-change.ts";
import { AddRepository, SyncRepositories } from "./add-repository.tsx";
import { EditRepository } from "./edit-repository.tsx";
import { repoWords } from "./repo-words.ts";

const EMPTY = "No repositories yet. An admin can add one by its URL.";
const EMPTY_FOR_ADMIN = "No repositories yet. Add one by its URL above, or sync from GitHub.";

/** Repositories that sessions may name. */
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
            ? "Sessions can use enabled repositories by name."
            : "Sessions can use enabled repositories by name. Only admins can change them."
        }
        aside={
          isAdmin && (
            <Button size="small" onClick={() => setIsSyncing(true)}>
              Sync from GitHub
            </Button>
          )
        }
      >
        <List found={found} empty={isAdmin ? EMPTY_FOR_ADMIN : EMPTY}>
          {(repo) => <RepoRow key={repo.id} repo={repo} isAdmin={isAdmin} />}
        </List>
      </Section>
      <SyncRepositories isOpen={isSyncing} onClose={() => setIsSyncing(false)} />
    </>
  );
}

function RepoRow({ repo, isAdmin }: { repo: Repo; isAdmin: boolean }) {
  const orgId = useMe()?.org.id ?? "";
  const [isEditing, setIsEditing] = useState(false);
  const { id, fullName, enabled } = repo;
  const change = useChange((body: RepoChange) => api.repos.update({ orgId, repoId: id, body }), {
    stale: keys.repos,
    failed: `Couldn't change ${fullName}`,
  });
  const remove = useChange(() => api.repos.delete({ orgId, repoId: id }), {
    stale: keys.repos,
    done: () => `Removed ${fullName}`,
    failed: `Couldn't remove ${fullName}`,
  });
  return (
    <Row name={fullName} text={repoWords(repo)} problem={repo.problem}>
      {isAdmin && (
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
          <Button size="small" aria-label={`Edit ${fullName}`} onClick={() => setIsEditing(true)}>
            Edit
          </Button>
          <Remove
            label={`Remove ${fullName}`}
            text="New sessions can't use it by name. Running sessions continue, and the repository itself is not changed."
            action="Remove"
            isBusy={remove.isPending}
            onConfirm={() => remove.mutate(undefined)}
          />
          <EditRepository repo={repo} isOpen={isEditing} onClose={() => setIsEditing(false)} />
        </>
      )}
    </Row>
  );
}

import { type FormEvent, useState } from "react";
import { ApiError, api, messageOf } from "#surfaces/web/kit/api/api-client.ts";
import { keys } from "#surfaces/web/kit/api/query-keys.ts";
import { Button } from "#surfaces/web/kit/button.tsx";
import { Modal } from "#surfaces/web/kit/dialog.tsx";
import { InlineError, TextField } from "#surfaces/web/kit/field.tsx";
import { useMe } from "#surfaces/web/kit/hooks/use-me.ts";
import { refusedFields } from "#surfaces/web/kit/settings/field-problems.ts";
import { Section } from "#surfaces/web/kit/settings/parts.tsx";
import { useChange } from "#surfaces/web/kit/settings/use-change.ts";
import { CredentialField } from "./edit-repository.tsx";
import { namedBy, syncWords } from "./repo-words.ts";

interface RepositoryDraft {
  address: string;
  credential: string;
}

const ABOUT_ADDRESS = new Set(["url_invalid", "url_holds_credentials", "repo_name_invalid"]);
const isFieldOfNew = (path: string) => path === "url" || path === "credential";

const NOTHING: RepositoryDraft = { address: "", credential: "" };

export function AddRepository() {
  const orgId = useMe()?.org.id ?? "";
  const [wanted, setWanted] = useState(NOTHING);
  const add = useChange(
    ({ address, credential }: RepositoryDraft) =>
      api.repos.create({
        orgId,
        body: {
          ...namedBy(address),
          ...(credential.trim() !== "" && { credential: credential.trim() }),
        },
      }),
    {
      stale: keys.repos,
      done: (_, { repo }) => `${repo.fullName} added`,
      onDone: () => setWanted(NOTHING),
    },
  );
  const refused = add.isError ? refusedFields(add.error, isFieldOfNew) : undefined;
  const atAddress = add.error instanceof ApiError && ABOUT_ADDRESS.has(add.error.code);
  const set = (change: Partial<RepositoryDraft>) => {
    setWanted({ ...wanted, ...change });
    if (add.isError) add.reset();
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    add.mutate(wanted);
  };
  return (
    <Section title="Add a repository">
      <form aria-label="Add a repository" className="space-y-2" onSubmit={submit}>
        <div className="grid items-start gap-2 sm:grid-cols-[2fr_1.4fr_auto]">
          <TextField
            label="URL"
            hint="or owner/name for GitHub"
            problem={atAddress ? messageOf(add.error) : refused?.fields.url}
            inputMode="url"
            spellCheck={false}
            maxLength={2_000}
            placeholder="https://github.com/you/project"
            value={wanted.address}
            onChange={(event) => set({ address: event.target.value })}
          />
          <div>
            <CredentialField
              value={wanted.credential}
              problem={refused?.fields.credential}
              onChange={(credential) => set({ credential })}
            />
          </div>
          <Button
            type="submit"
            look="primary"
            className="sm:mt-5"
            disabled={add.isPending || wanted.address.trim() === ""}
          >
            Add
          </Button>
        </div>
        {refused?.rest !== undefined && !atAddress && <InlineError>{refused.rest}</InlineError>}
      </form>
    </Section>
  );
}

export function SyncRepositories({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const orgId = useMe()?.org.id ?? "";
  const [owner, setOwner] = useState("");
  const sync = useChange(
    (account: string) => api.repos.sync({ orgId, body: account === "" ? {} : { owner: account } }),
    { stale: keys.repos },
  );
  const close = () => {
    sync.reset();
    onClose();
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    sync.mutate(owner.trim());
  };
  return (
    <Modal title="Sync from GitHub" isOpen={isOpen} onClose={close}>
      <form className="space-y-3.5" onSubmit={submit}>
        <p className="text-ink-soft">
          Imports repositories with the token in the secret GITHUB_TOKEN. Nothing is removed.
        </p>
        <TextField
          label="Account"
          hint="optional; empty for all your repositories"
          spellCheck={false}
          maxLength={100}
          value={owner}
          onChange={(event) => setOwner(event.target.value)}
        />
        {sync.isError && <InlineError>{messageOf(sync.error)}</InlineError>}
        {sync.data && <p role="status">{syncWords(sync.data.sync)}</p>}
        <div className="flex justify-end gap-2">
          <Button onClick={close}>Close</Button>
          <Button type="submit" look="primary" disabled={sync.isPending}>
            {sync.isPending ? "Syncing…" : "Sync"}
          </Button>
        </div>
      </form>
    </Modal>
  );
}

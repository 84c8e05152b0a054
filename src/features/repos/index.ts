/**
 * Repositories that sessions may work on, by name. Admins maintain the list, by hand or from GitHub; every
 * member of the organisation reads and uses it.
 */
import { Refusal } from "#base/refusal.ts";
import { createSealer } from "#base/secrets/seal.ts";
import type { EncryptedColumn } from "#base/secrets/secret-key.ts";
import type { Engine, Feature } from "#engine/index.ts";
import type { Secrets } from "#features/secrets/index.ts";
import { nameKey } from "./addresses.ts";
import { type FindPersona, webhookBinding } from "./change-repo.ts";
import { GITHUB_API_URL } from "./github.ts";
import { briefIdentity, createRepositoryOpener } from "./open-repository.ts";
import { findRepoByName, savePersonaSlug } from "./queries.ts";
import { listRepoAddresses } from "./resolve-repo.ts";
import { repoRoutes } from "./routes.ts";
import { repoMigrations } from "./schema.ts";
import { reposToFind } from "./searchable.ts";

export interface ReposOptions {
  secretKey: string;
  secrets: Pick<Secrets, "read">;
  findPersona: FindPersona;
  /** Address of GitHub's API: github.com, or a server of one's own. */
  githubApiUrl?: string | undefined;
}

export interface Repos {
  feature: Feature;
  /** Secret to verify a webhook with; undefined: none was set. Must appear in no response and no log line. */
  webhookSecret(engine: Engine, orgId: string, fullName: string): Promise<string | undefined>;
}

export const webhookColumn: EncryptedColumn = {
  table: "repos",
  column: "webhook_secret",
  purpose: "muster repository webhooks",
  bindingOf: ({ org_id = "", id = "" }) => webhookBinding({ org_id, id }),
  forget: "value",
};

export function createRepos({
  secretKey,
  secrets,
  findPersona,
  githubApiUrl = GITHUB_API_URL,
}: ReposOptions): Repos {
  const sealer = createSealer(secretKey, webhookColumn.purpose);
  return {
    feature: {
      name: "repos",
      migrations: repoMigrations,
      listeners: [
        async ({ tx }, event) => {
          if (event.type !== "setting_changed" || event.area !== "persona") return;
          const { orgId, subjectId } = event;
          const persona = subjectId === null ? undefined : await findPersona(tx, orgId, subjectId);
          if (persona)
            await savePersonaSlug(tx, { orgId, personaId: persona.id, slug: persona.slug });
        },
      ],
      routes: repoRoutes({ sealer, githubApiUrl, secrets, findPersona }),
      openRepository: createRepositoryOpener({ secrets, githubApiUrl }),
      brief: briefIdentity,
      searchable: [reposToFind],
      listRepoAddresses,
    },
    async webhookSecret({ store }, orgId, fullName) {
      const row = await store.read((reader) => findRepoByName(reader, orgId, nameKey(fullName)));
      if (row?.webhook_secret == null) return undefined;
      const secret = sealer.open(row.webhook_secret, webhookBinding(row));
      if (secret === undefined) throw unreadable(row.full_name);
      return secret;
    },
  };
}

function unreadable(fullName: string): Refusal {
  return new Refusal(
    "unavailable",
    "secret_key_changed",
    `The webhook secret of ${fullName} cannot be decrypted: the server's secret key has changed since. Restore the old one (MUSTER_SECRET_KEY, or secret.key in the data folder), or set the webhook secret again.`,
  );
}

export { parseAddress } from "./addresses.ts";
export {
  listKnownRepos,
  listRepoAddresses,
  type ResolvedRepo,
  resolveRepo,
} from "./resolve-repo.ts";

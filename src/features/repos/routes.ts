import * as z from "zod";
import { notFound, Refusal } from "#base/refusal.ts";
import { decodeCursor, pageOf } from "#engine/cursor.ts";
import {
  command,
  defineRoute,
  type Engine,
  type Principal,
  type Route,
  type RouteRequest,
  requireMay,
  requireOrg,
} from "#engine/index.ts";
import { requireUser } from "#features/policy/index.ts";
import type { Secrets } from "#features/secrets/index.ts";
import { pageOf as pageSchema } from "#protocol/page.ts";
import {
  addRepo,
  changeRepo,
  type RepoEdit,
  type RepoSettings,
  removeRepo,
} from "./change-repo.ts";
import {
  newRepoSchema,
  type RepoSync,
  repoChangeSchema,
  repoListQuery,
  repoPersonaAnswerSchema,
  repoPersonaSchema,
  repoSchema,
  repoSyncAnswerSchema,
  repoSyncSchema,
} from "./contract.ts";
import { findRepo, listRepos } from "./queries.ts";
import { wordsOf } from "./resolve-repo.ts";
import type { RepoRow } from "./schema.ts";
import { syncRepos } from "./sync-repos.ts";
import { repoView } from "./view.ts";

export interface RepoRoutesOptions extends RepoSettings {
  secrets: Pick<Secrets, "read">;
}

const TAG = "Repositories";
const REPOS = "/api/orgs/{orgId}/repos";
const REPO = `${REPOS}/{repoId}`;
const LIST = "repos";
const one = z.object({ repo: repoSchema });

export function repoRoutes(options: RepoRoutesOptions): readonly Route[] {
  return [
    listRoute,
    addRoute(options),
    syncRoute(options),
    readRoute,
    // Both change only what they name: clients use the one or the other.
    changeRoute("patch", options),
    changeRoute("put", options),
    removeRoute,
    ...personaRoutes(options),
  ];
}

type Params = Readonly<Record<string, string>>;

function keyFor(principal: Principal, params: Params, action: "repo.read" | "repo.manage") {
  const orgId = requireOrg(principal, params.orgId);
  requireMay(principal, action);
  return { orgId, id: params.repoId ?? "" };
}

const listRoute = defineRoute({
  method: "get",
  path: REPOS,
  summary: "The organisation's repositories, by name",
  tag: TAG,
  query: repoListQuery,
  response: pageSchema(repoSchema),
  async handle({ engine, principal, params, query: { q = "", enabled, limit, cursor } }) {
    const { orgId } = keyFor(principal, params, "repo.read");
    const after = decodeCursor(LIST, cursor)?.id;
    const filter = { orgId, words: wordsOf(q), enabled, after };
    const rows = await engine.store.read((reader) => listRepos(reader, filter, limit + 1));
    const place = ({ name_key }: RepoRow) => ({ at: 0, id: name_key });
    return pageOf(LIST, rows, limit, place, repoView);
  },
});

const addRoute = (options: RepoRoutesOptions) =>
  defineRoute({
    method: "post",
    path: REPOS,
    summary: "Add a repository by its address, its path, or its name on GitHub (admins)",
    tag: TAG,
    body: newRepoSchema,
    response: one,
    status: 201,
    takesIdempotencyKey: true,
    async handle({ engine, principal, params, body, idempotency }) {
      keyFor(principal, params, "repo.manage");
      const id = engine.ids.mint("rep");
      const order = { principal, id, request: body, idempotency };
      return { repo: repoView(await command(engine, (work) => addRepo(work, options, order))) };
    },
  });

const readRoute = defineRoute({
  method: "get",
  path: REPO,
  summary: "One repository",
  tag: TAG,
  response: one,
  async handle({ engine, principal, params }) {
    return { repo: repoView(await getRepo(engine, keyFor(principal, params, "repo.read"))) };
  },
});

const changeRoute = (method: "patch" | "put", options: RepoRoutesOptions) =>
  defineRoute({
    method,
    path: REPO,
    summary: "Change what is said of a repository; what is left out stays (admins)",
    tag: TAG,
    body: repoChangeSchema,
    response: one,
    handle: async (request) => ({ repo: repoView(await change(request, options, request.body)) }),
  });

async function change(
  { engine, principal, params }: Pick<RouteRequest, "engine" | "principal" | "params">,
  options: RepoRoutesOptions,
  body: RepoEdit,
): Promise<RepoRow> {
  const key = keyFor(principal, params, "repo.manage");
  return command(engine, (work) => changeRepo(work, options, principal, key, body));
}

const removeRoute = defineRoute({
  method: "delete",
  path: REPO,
  summary: "Remove a repository from the list; sessions on it go on (admins)",
  tag: TAG,
  response: one,
  async handle({ engine, principal, params }) {
    const key = keyFor(principal, params, "repo.manage");
    return { repo: repoView(await command(engine, (work) => removeRepo(work, principal, key))) };
  },
});

const personaRoutes = (options: RepoRoutesOptions) => [
  defineRoute({
    method: "get",
    path: `${REPO}/persona`,
    summary: "The persona that sessions on a repository get unless they ask for another",
    tag: TAG,
    response: repoPersonaAnswerSchema,
    async handle({ engine, principal, params }) {
      const row = await getRepo(engine, keyFor(principal, params, "repo.read"));
      return { persona: await personaView(engine, options, row) };
    },
  }),
  defineRoute({
    method: "put",
    path: `${REPO}/persona`,
    summary: "Set that persona, or null for none (admins)",
    tag: TAG,
    body: repoPersonaSchema,
    response: repoPersonaAnswerSchema,
    async handle(request) {
      const row = await change(request, options, request.body);
      return { persona: await personaView(request.engine, options, row) };
    },
  }),
];

async function getRepo({ store }: Engine, key: { orgId: string; id: string }): Promise<RepoRow> {
  const row = await store.read((reader) => findRepo(reader, key));
  if (!row) throw notFound("repository");
  return row;
}

/** Shows a persona that was deleted by its last slug, without a name. */
async function personaView(
  { store }: Engine,
  { findPersona }: RepoRoutesOptions,
  { org_id, persona_id, persona_slug }: RepoRow,
) {
  if (persona_slug === null) return null;
  const found =
    persona_id === null
      ? undefined
      : await store.read((reader) => findPersona(reader, org_id, persona_id));
  return { id: persona_id, slug: found?.slug ?? persona_slug, name: found?.name ?? null };
}

function syncRoute({ secrets, githubApiUrl }: RepoRoutesOptions) {
  const running = new Set<string>();
  return defineRoute({
    method: "post",
    path: `${REPOS}/sync`,
    summary: "Bring in repositories from GitHub with a token from the secrets (admins)",
    tag: TAG,
    body: repoSyncSchema,
    response: repoSyncAnswerSchema,
    async handle({ engine, principal, params, body }) {
      const { orgId } = keyFor(principal, params, "repo.manage");
      const { userId } = requireUser(principal);
      const token = await tokenFor(engine, secrets, { orgId, userId }, body);
      if (running.has(orgId)) throw alreadyRunning();
      running.add(orgId);
      try {
        const order = { orgId, userId, request: body, apiUrl: githubApiUrl, token };
        return { sync: await syncRepos(engine, order) };
      } finally {
        running.delete(orgId);
      }
    },
  });
}

async function tokenFor(
  engine: Engine,
  secrets: Pick<Secrets, "read">,
  reader: { orgId: string; userId: string },
  { credential }: RepoSync,
): Promise<string> {
  const token = (await secrets.read(engine, reader, credential))?.trim();
  if (token === undefined) {
    throw new Refusal(
      "conflict",
      "secret_missing",
      `There is no secret ${credential}. Store a token of GitHub under this name (muster secrets set ${credential}), or name another as credential.`,
    );
  }
  // It will be a header; what could not be one would be repeated in an error.
  if (/^[\x21-\x7e]{1,1000}$/.test(token)) return token;
  throw new Refusal(
    "conflict",
    "github_token_refused",
    `What is stored in the secret ${credential} is no token of GitHub. Store the token alone, on one line.`,
  );
}

function alreadyRunning(): Refusal {
  return new Refusal(
    "conflict",
    "sync_running",
    "A sync is at work already. Wait until it has ended, then look at the list.",
  );
}

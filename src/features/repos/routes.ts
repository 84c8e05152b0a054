import { notFound, Refusal } from "#base/refusal.ts";
import {
  command,
  type Engine,
  type Principal,
  type Route,
  type RouteRequest,
  requireMay,
  requireOrg,
  serve,
} from "#engine/index.ts";
import { decodeCursor, pageOf } from "#engine/requests/index.ts";
import { requireUser } from "#features/policy/index.ts";
import type { Secrets } from "#features/secrets/index.ts";
import {
  addRepo,
  changeRepo,
  type RepoEdit,
  type RepoSettings,
  removeRepo,
} from "./change-repo.ts";
import { type RepoSync, reposApi } from "./contract.ts";
import { findRepo, listRepos } from "./queries.ts";
import { wordsOf } from "./resolve-repo.ts";
import type { RepoRow } from "./schema.ts";
import { syncRepos } from "./sync-repos.ts";
import { repoView } from "./view.ts";

export interface RepoRoutesOptions extends RepoSettings {
  secrets: Pick<Secrets, "read">;
}

const LIST = "repos";

export function repoRoutes(options: RepoRoutesOptions): readonly Route[] {
  return [
    listRoute,
    createRoute(options),
    syncRoute(options),
    getRoute,
    ...updateRoutes(options),
    deleteRoute,
    ...personaRoutes(options),
  ];
}

interface OrgParams {
  readonly orgId: string;
}

interface RepoParams extends OrgParams {
  readonly repoId: string;
}

type RepoAction = "repo.read" | "repo.manage";

function requireOrgFor(principal: Principal, params: OrgParams, action: RepoAction): string {
  const orgId = requireOrg(principal, params.orgId);
  requireMay(principal, action);
  return orgId;
}

function keyFor(principal: Principal, params: RepoParams, action: RepoAction) {
  return { orgId: requireOrgFor(principal, params, action), id: params.repoId };
}

const listRoute = serve(reposApi.list, async ({ engine, principal, params, query }) => {
  const { q = "", enabled, limit, cursor } = query;
  const orgId = requireOrgFor(principal, params, "repo.read");
  const after = decodeCursor(LIST, cursor)?.id;
  const filter = { orgId, words: wordsOf(q), enabled, after };
  const rows = await engine.store.read((reader) => listRepos(reader, filter, limit + 1));
  const place = ({ name_key }: RepoRow) => ({ at: 0, id: name_key });
  return pageOf(LIST, rows, limit, place, repoView);
});

const createRoute = (options: RepoRoutesOptions) =>
  serve(reposApi.create, async ({ engine, principal, params, body, idempotency }) => {
    requireOrgFor(principal, params, "repo.manage");
    const id = engine.ids.mint("rep");
    const order = { principal, id, request: body, idempotency };
    return { repo: repoView(await command(engine, (work) => addRepo(work, options, order))) };
  });

const getRoute = serve(reposApi.get, async ({ engine, principal, params }) => ({
  repo: repoView(await getRepo(engine, keyFor(principal, params, "repo.read"))),
}));

type RepoRequest = Pick<RouteRequest, "engine" | "principal"> & { params: RepoParams };

const updateRoutes = (options: RepoRoutesOptions) => {
  const update = async (request: RepoRequest & { body: RepoEdit }) => ({
    repo: repoView(await change(request, options, request.body)),
  });
  return [serve(reposApi.update, update), serve(reposApi.updateByPut, update)];
};

async function change(
  { engine, principal, params }: RepoRequest,
  options: RepoRoutesOptions,
  body: RepoEdit,
): Promise<RepoRow> {
  const key = keyFor(principal, params, "repo.manage");
  return command(engine, (work) => changeRepo(work, options, principal, key, body));
}

const deleteRoute = serve(reposApi.delete, async ({ engine, principal, params }) => {
  const key = keyFor(principal, params, "repo.manage");
  return { repo: repoView(await command(engine, (work) => removeRepo(work, principal, key))) };
});

const personaRoutes = (options: RepoRoutesOptions) => [
  serve(reposApi.getPersona, async ({ engine, principal, params }) => {
    const row = await getRepo(engine, keyFor(principal, params, "repo.read"));
    return { persona: await personaView(engine, options, row) };
  }),
  serve(reposApi.setPersona, async (request) => {
    const row = await change(request, options, request.body);
    return { persona: await personaView(request.engine, options, row) };
  }),
];

async function getRepo({ store }: Engine, key: { orgId: string; id: string }): Promise<RepoRow> {
  const row = await store.read((reader) => findRepo(reader, key));
  if (!row) throw notFound("repository");
  return row;
}

/** Shows a deleted persona by its last slug, without a name. */
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

function syncRoute({ secrets, githubApiUrl }: RepoRoutesOptions): Route {
  const running = new Set<string>();
  return serve(reposApi.sync, async ({ engine, principal, params, body }) => {
    const orgId = requireOrgFor(principal, params, "repo.manage");
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
      `There is no secret ${credential}. Store a GitHub token under this name (muster secrets set ${credential}), or name another as credential.`,
    );
  }
  // The token becomes a header; an invalid one would be repeated in an error.
  if (/^[\x21-\x7e]{1,1000}$/.test(token)) return token;
  throw new Refusal(
    "conflict",
    "github_token_refused",
    `The secret ${credential} does not contain a GitHub token. Store the token alone, on one line.`,
  );
}

function alreadyRunning(): Refusal {
  return new Refusal(
    "conflict",
    "sync_running",
    "A sync is already running. Wait until it has ended, then check the list.",
  );
}

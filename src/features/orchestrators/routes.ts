/** Routes of a person's own orchestrator, and of the directory of agents in an organisation. */
import { notFound, Refusal } from "#base/refusal.ts";
import {
  type Action,
  command,
  type Principal,
  type Route,
  type RouteRequest,
  requireMay,
  requireOrg,
  serve,
} from "#engine/index.ts";
import { describeSession, findSession, readContext, withBindings } from "#engine/sessions/index.ts";
import type { UserPrincipal } from "#features/auth/index.ts";
import { orchestratorId } from "#protocol/names/session-ids.ts";
import { orchestratorsApi } from "./contract.ts";
import { checkHandle } from "./identity/claim-handle.ts";
import { renameOrchestrator } from "./identity/rename.ts";
import { changePreferences, changeSettings, readPreferences, readSettings } from "./preferences.ts";
import { findAvatar, findIdentity, listIdentities, listSessionsById } from "./queries.ts";
import {
  type EnsuredOrchestrator,
  ensureRunning,
  type RunningRequest,
} from "./running/ensure-running.ts";
import { agentView, identityView, orchestratorView, overseenView } from "./views.ts";

type Caller = Pick<RouteRequest, "engine" | "principal">;

/** Agents, runners and the system have no orchestrator. */
function personFor(principal: Principal, action: Action): UserPrincipal {
  requireMay(principal, action);
  if (principal.kind === "user") return principal;
  throw new Refusal("forbidden", "forbidden", "Only a person may do this. Use a person's key.");
}

async function start({ engine, principal }: Caller, options: RunningRequest) {
  const person = personFor(principal, "session.create");
  const started = await command(engine, async (work) => {
    const { session, identity, did }: EnsuredOrchestrator = await ensureRunning(
      work,
      person,
      options,
    );
    return {
      session: await describeSession(work.context, session.row),
      identity: identityView(identity),
      alreadyExists: did === "nothing" || did === "woken",
    };
  });
  const [session = started.session] = await withBindings(engine, [started.session]);
  return { ...started, session };
}

/** Answers 201 for an orchestrator that was created or restored, 200 for an existing one. */
const startStatus = ({ alreadyExists }: { alreadyExists: boolean }) => (alreadyExists ? 200 : 201);

const lifecycleRoutes: readonly Route[] = [
  serve(orchestratorsApi.get, async ({ engine, principal }) => {
    const person = personFor(principal, "session.read");
    const view = await engine.store.read(async (reader) =>
      orchestratorView(
        readContext(engine, reader),
        await findIdentity(reader, person),
        await findSession(reader, orchestratorId(person.userId)),
      ),
    );
    if (view.session === null) return view;
    const [session = view.session] = await withBindings(engine, [view.session]);
    return { ...view, session };
  }),
  serve(
    orchestratorsApi.create,
    (request) => start(request, { identity: request.body }),
    startStatus,
  ),
  serve(orchestratorsApi.wake, (request) => start(request, { wakes: true })),
  serve(
    orchestratorsApi.restart,
    (request) => start(request, { restarts: request.body.force }),
    startStatus,
  ),
];

const identityRoutes: readonly Route[] = [
  serve(orchestratorsApi.getIdentity, async ({ engine, principal }) => {
    const person = personFor(principal, "session.read");
    const identity = await engine.store.read((reader) => findIdentity(reader, person));
    if (!identity) throw notFound("identity");
    return { identity: identityView(identity) };
  }),
  serve(orchestratorsApi.updateIdentity, async ({ engine, principal, body }) => {
    const person = personFor(principal, "session.manage");
    const identity = await command(engine, (work) => renameOrchestrator(work, person, body));
    return { identity: identityView(identity) };
  }),
  serve(orchestratorsApi.getAvatar, async ({ engine, principal, params }) => {
    requireMay(principal, "session.read");
    const person = { orgId: principal.orgId, userId: params.userId };
    const image = await engine.store.read((reader) => findAvatar(reader, person));
    if (!image) throw notFound("avatar");
    const headers = {
      "Content-Type": image.media_type,
      // An uploaded file must not be rendered as a page of this server.
      "Content-Disposition": "attachment",
      "Content-Security-Policy": "sandbox; default-src 'none'",
    };
    return { raw: { body: image.data, headers } };
  }),
  serve(orchestratorsApi.checkHandle, async ({ engine, principal, query }) => {
    const person = personFor(principal, "session.read");
    return engine.store.read((reader) => checkHandle(reader, person, query.handle));
  }),
  serve(orchestratorsApi.getPreferences, async ({ engine, principal }) => {
    const person = personFor(principal, "session.read");
    return readPreferences(engine, person);
  }),
  serve(orchestratorsApi.updatePreferences, async ({ engine, principal, body }) => {
    const person = personFor(principal, "session.manage");
    return changePreferences(engine, person, body);
  }),
];

async function directory({ engine, principal }: Caller) {
  const { orgId } = personFor(principal, "org.read");
  const rows = await engine.store.read((reader) => listIdentities(reader, orgId));
  return { items: rows.map(agentView), next: null };
}

const orgRoutes: readonly Route[] = [
  serve(orchestratorsApi.listAgents, directory),
  serve(orchestratorsApi.listOrgAgents, async (request) => {
    personFor(request.principal, "org.read");
    requireOrg(request.principal, request.params.orgId);
    return directory(request);
  }),
  serve(orchestratorsApi.oversee, async ({ engine, principal, params }) => {
    const { orgId } = personFor(principal, "session.oversee");
    requireOrg(principal, params.orgId);
    return engine.store.read(async (reader) => {
      const identities = await listIdentities(reader, orgId);
      const ids = identities.map(({ user_id }) => orchestratorId(user_id));
      const sessions = await listSessionsById(reader, ids);
      const context = readContext(engine, reader);
      const items = [];
      for (const row of identities)
        items.push(await overseenView(context, row, sessions.get(orchestratorId(row.user_id))));
      return { items, next: null };
    });
  }),
  serve(orchestratorsApi.getSettings, async ({ engine, principal, params }) => {
    const { orgId } = personFor(principal, "org.read");
    requireOrg(principal, params.orgId);
    return readSettings(engine, orgId);
  }),
  serve(orchestratorsApi.updateSettings, async ({ engine, principal, params, body }) => {
    const admin = personFor(principal, "org.manage");
    requireOrg(principal, params.orgId);
    return changeSettings(engine, admin, body);
  }),
];

export const orchestratorRoutes: readonly Route[] = [
  ...lifecycleRoutes,
  ...identityRoutes,
  ...orgRoutes,
];

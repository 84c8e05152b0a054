/** A person's own orchestrator over HTTP, and the directory of all agents of an org. */
import * as z from "zod";
import { notFound, Refusal } from "#base/refusal.ts";
import {
  type Action,
  command,
  defineRoute,
  type Principal,
  type RawAnswer,
  type Route,
  type RouteRequest,
  requireMay,
  requireOrg,
} from "#engine/index.ts";
import { describeSession, findSession, withBindings } from "#engine/sessions/index.ts";
import type { UserPrincipal } from "#features/auth/index.ts";
import { pageOf } from "#protocol/page.ts";
import { orchestratorId } from "#protocol/session-ids.ts";
import { checkHandle } from "./claim-handle.ts";
import {
  agentSchema,
  handleAnswerSchema,
  handleSchema,
  identityChangeSchema,
  identitySchema,
  newOrchestratorSchema,
  orchestratorSchema,
  orchestratorSettingsSchema,
  overseenOrchestratorSchema,
  preferencesChangeSchema,
  preferencesSchema,
  settingsChangeSchema,
  startedSchema,
} from "./contract.ts";
import { ensureRunning, type Running, type Wish } from "./ensure-running.ts";
import { changePreferences, changeSettings, readPreferences, readSettings } from "./preferences.ts";
import { findAvatar, findIdentity, listIdentities, listSessionsById } from "./queries.ts";
import { renameOrchestrator } from "./rename.ts";
import { agentView, identityView, orchestratorView, overseenView } from "./views.ts";

const TAG = "Orchestrator";
const ONE = "/api/me/orchestrator";
const nothing = z.strictObject({});

/** Agents, runners and the system itself have no orchestrator. */
function personFor(principal: Principal, action: Action): UserPrincipal {
  requireMay(principal, action);
  if (principal.kind === "user") return principal;
  throw new Refusal("forbidden", "forbidden", "Only a person may do this. Use a person's key.");
}

async function start({ engine, principal }: RouteRequest, wish: Wish) {
  const person = personFor(principal, "session.create");
  const started = await command(engine, async (work) => {
    const { session, identity, did }: Running = await ensureRunning(work, person, wish);
    return {
      session: await describeSession(work.tx, session.row, work.now),
      identity: identityView(identity),
      alreadyExists: did === "nothing" || did === "woken",
    };
  });
  const [session] = await withBindings(engine, [started.session]);
  return { ...started, session };
}

/** Made, or brought back: 201. There already: 200. */
const startStatus = ({ alreadyExists }: { alreadyExists: boolean }) => (alreadyExists ? 200 : 201);

const lifeRoutes: readonly Route[] = [
  defineRoute({
    method: "get",
    path: ONE,
    summary: "Your orchestrator: its session, who it is, and whether it has to be started",
    tag: TAG,
    response: orchestratorSchema,
    async handle({ engine, principal }) {
      const person = personFor(principal, "session.read");
      const view = await engine.store.read(async (reader) =>
        orchestratorView(
          reader,
          await findIdentity(reader, person),
          await findSession(reader, orchestratorId(person.userId)),
          engine.clock.now(),
        ),
      );
      if (view.session === null) return view;
      return { ...view, session: (await withBindings(engine, [view.session]))[0] };
    },
  }),
  defineRoute({
    method: "post",
    path: ONE,
    summary: "Make your orchestrator, or bring it back; one that is there stays as it is (200)",
    tag: TAG,
    body: newOrchestratorSchema,
    status: 201,
    otherStatuses: [200],
    statusOf: startStatus,
    response: startedSchema,
    handle: (request) => start(request, { identity: request.body }),
  }),
  defineRoute({
    method: "post",
    path: `${ONE}/wake`,
    summary: "Have your orchestrator awake, whatever it was",
    tag: TAG,
    body: nothing,
    response: startedSchema,
    handle: (request) => start(request, { wakes: true }),
  }),
  defineRoute({
    method: "post",
    path: `${ONE}/restart`,
    summary:
      "Bring your orchestrator back by hand. One that is healthy stays as it is; force stops its turns and begins anew, and its queue is kept",
    tag: TAG,
    body: z.strictObject({ force: z.boolean().default(false) }),
    status: 201,
    otherStatuses: [200],
    statusOf: startStatus,
    response: startedSchema,
    handle: (request) => start(request, { restarts: request.body.force }),
  }),
];

const identityRoutes: readonly Route[] = [
  defineRoute({
    method: "get",
    path: `${ONE}/identity`,
    summary: "Who your orchestrator is",
    tag: TAG,
    response: z.object({ identity: identitySchema }),
    async handle({ engine, principal }) {
      const person = personFor(principal, "session.read");
      const identity = await engine.store.read((reader) => findIdentity(reader, person));
      if (!identity) throw notFound("identity");
      return { identity: identityView(identity) };
    },
  }),
  defineRoute({
    method: "put",
    path: `${ONE}/identity`,
    summary: "Change its name, handle, avatar, style, instructions, or who may write to it",
    tag: TAG,
    body: identityChangeSchema,
    response: z.object({ identity: identitySchema }),
    async handle({ engine, principal, body }) {
      const person = personFor(principal, "session.manage");
      const identity = await command(engine, (work) => renameOrchestrator(work, person, body));
      return { identity: identityView(identity) };
    },
  }),
  defineRoute({
    method: "get",
    path: "/api/agents/{userId}/avatar",
    summary: "The image that somebody uploaded for their agent",
    tag: TAG,
    response: z.string(),
    mediaType: "image/*",
    async handle({ engine, principal, params }): Promise<RawAnswer> {
      requireMay(principal, "session.read");
      const person = { orgId: principal.orgId, userId: params.userId ?? "" };
      const image = await engine.store.read((reader) => findAvatar(reader, person));
      if (!image) throw notFound("avatar");
      const headers = {
        "Content-Type": image.media_type,
        // Somebody else's file must not become a page of ours.
        "Content-Disposition": "attachment",
        "Content-Security-Policy": "sandbox; default-src 'none'",
      };
      return { raw: { body: image.data, headers } };
    },
  }),
  defineRoute({
    method: "get",
    path: `${ONE}/check-handle`,
    summary: "Whether a handle is free, and one like it that is",
    tag: TAG,
    query: z.strictObject({ handle: handleSchema }),
    response: handleAnswerSchema,
    async handle({ engine, principal, query }) {
      const person = personFor(principal, "session.read");
      return engine.store.read((reader) => checkHandle(reader, person, query.handle));
    },
  }),
  defineRoute({
    method: "get",
    path: "/api/me/preferences",
    summary: "How you want your orchestrator: when it falls asleep, how it queues, its model",
    tag: TAG,
    response: preferencesSchema,
    async handle({ engine, principal }) {
      const person = personFor(principal, "session.read");
      return readPreferences(engine, person);
    },
  }),
  defineRoute({
    method: "patch",
    path: "/api/me/preferences",
    summary: "Change them; the model only as long as no admin has chosen one for all",
    tag: TAG,
    body: preferencesChangeSchema,
    response: preferencesSchema,
    async handle({ engine, principal, body }) {
      const person = personFor(principal, "session.manage");
      return changePreferences(engine, person, body);
    },
  }),
];

async function directory({ engine, principal }: RouteRequest) {
  const { orgId } = personFor(principal, "org.read");
  const rows = await engine.store.read((reader) => listIdentities(reader, orgId));
  return { items: rows.map(agentView), next: null };
}

const orgRoutes: readonly Route[] = [
  defineRoute({
    method: "get",
    path: "/api/me/org-agents",
    summary: "The agents of your organisation: their handles and names",
    tag: TAG,
    response: pageOf(agentSchema),
    handle: directory,
  }),
  defineRoute({
    method: "get",
    path: "/api/orgs/{orgId}/agents",
    summary: "The agents of the organisation: their handles and names",
    tag: TAG,
    response: pageOf(agentSchema),
    async handle(request) {
      personFor(request.principal, "org.read");
      requireOrg(request.principal, request.params.orgId);
      return directory(request);
    },
  }),
  defineRoute({
    method: "get",
    path: "/api/orgs/{orgId}/orchestrators",
    summary: "How everybody's orchestrator is and what it costs, without what it says (admins)",
    tag: TAG,
    response: pageOf(overseenOrchestratorSchema),
    async handle({ engine, principal, params }) {
      const { orgId } = personFor(principal, "session.oversee");
      requireOrg(principal, params.orgId);
      return engine.store.read(async (reader) => {
        const identities = await listIdentities(reader, orgId);
        const ids = identities.map(({ user_id }) => orchestratorId(user_id));
        const sessions = await listSessionsById(reader, ids);
        const now = engine.clock.now();
        const items = [];
        for (const row of identities)
          items.push(
            await overseenView(reader, row, sessions.get(orchestratorId(row.user_id)), now),
          );
        return { items, next: null };
      });
    },
  }),
  defineRoute({
    method: "get",
    path: "/api/orgs/{orgId}/orchestrator-settings",
    summary: "The model that was chosen for all orchestrators; null: everybody chooses",
    tag: TAG,
    response: orchestratorSettingsSchema,
    async handle({ engine, principal, params }) {
      const { orgId } = personFor(principal, "org.read");
      requireOrg(principal, params.orgId);
      return readSettings(engine, orgId);
    },
  }),
  defineRoute({
    method: "patch",
    path: "/api/orgs/{orgId}/orchestrator-settings",
    summary: "Choose the model of all orchestrators, or let everybody choose (admins)",
    tag: TAG,
    body: settingsChangeSchema,
    response: orchestratorSettingsSchema,
    async handle({ engine, principal, params, body }) {
      const admin = personFor(principal, "org.manage");
      requireOrg(principal, params.orgId);
      return changeSettings(engine, admin, body);
    },
  }),
];

export const orchestratorRoutes: readonly Route[] = [
  ...lifeRoutes,
  ...identityRoutes,
  ...orgRoutes,
];

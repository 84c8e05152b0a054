import { notFound } from "#base/refusal.ts";
import {
  command,
  principalKey,
  type Route,
  requireMay,
  requireSignedIn,
  serve,
} from "#engine/index.ts";
import { type Auth, findOrg, lockOrg, mintSecret, saveOrg } from "#features/auth/index.ts";
import { type Org, orgsApi } from "./contract.ts";
import { invite, listInvitations, withdrawInvitation } from "./invitations.ts";
import { changeRole, listMemberViews, removeMember } from "./members.ts";
import { overseeRoutes } from "./oversee-routes.ts";
import { personOf } from "./person-of.ts";
import { requestPurge } from "./purge-member.ts";
import { dropMachines, stopWorkOf, type Work } from "./stop-work.ts";

export interface OrgRouteOptions {
  auth: Pick<Auth, "forget">;
  work: () => Work;
  /** Address at which people reach this server. */
  baseUrl: () => string;
}

export function orgRoutes(options: OrgRouteOptions): readonly Route[] {
  return [...ownRoutes, ...memberRoutes(options), ...invitationRoutes(options), ...overseeRoutes];
}

const ownRoutes: readonly Route[] = [
  serve(orgsApi.get, async ({ engine, principal, params }) => {
    requireMay(principal, "org.read");
    const { orgId } = personOf(principal, params);
    return { org: orgView(await engine.store.read((reader) => findOrg(reader, orgId))) };
  }),
  serve(orgsApi.update, async ({ engine, principal, params, body }) => {
    const { orgId } = personOf(principal, params);
    requireMay(principal, "org.manage");
    return command(engine, async (work) => {
      const org = await lockOrg(work.tx, orgId);
      await saveOrg(work.tx, { id: orgId, name: body.name });
      const by = principalKey(principal);
      await work.reportChange({ orgId, by, area: "org", action: "renamed", subjectId: orgId });
      return { org: orgView(org && { ...org, name: body.name }) };
    });
  }),
];

function memberRoutes({ auth, work }: OrgRouteOptions): Route[] {
  return [
    serve(orgsApi.listMembers, async ({ engine, principal, params, query }) => {
      requireMay(principal, "org.read");
      const user = personOf(principal, params);
      const withRemoved = query.removed === "true";
      if (withRemoved) requireMay(principal, "org.manage");
      return { items: await listMemberViews(engine.store, user, withRemoved), next: null };
    }),
    serve(orgsApi.updateMember, async ({ engine, principal, params, body }) => {
      const user = personOf(principal, params);
      requireMay(principal, "org.manage");
      if (body.role === "admin") requireSignedIn(principal, "Making somebody an admin");
      const { member, tokens } = await command(engine, (change) =>
        changeRole(change, user, params.userId, body.role),
      );
      auth.forget();
      await dropMachines(work(), tokens);
      return { member };
    }),
    serve(orgsApi.removeMember, async ({ engine, principal, params }) => {
      const user = personOf(principal, params);
      const isSelf = params.userId === user.userId;
      requireMay(principal, isSelf ? "account.manage" : "org.manage");
      if (isSelf) requireSignedIn(principal, "Leaving the organisation");
      const { removed, tokens } = await command(engine, (change) =>
        removeMember(change, user, params.userId),
      );
      auth.forget();
      await dropMachines(work(), tokens);
      await stopWorkOf(work(), removed);
      return {};
    }),
    purgeRoute,
  ];
}

const purgeRoute = serve(orgsApi.purgeMember, async ({ engine, principal, params, body }) => {
  const user = personOf(principal, params);
  requireMay(principal, "org.manage");
  const member = await command(engine, (work) =>
    requestPurge(work, user, params.userId, body.confirm),
  );
  return { member };
});

function invitationRoutes({ baseUrl }: OrgRouteOptions): Route[] {
  return [
    serve(orgsApi.invite, async ({ engine, principal, params, body }) => {
      const user = personOf(principal, params);
      requireMay(principal, "org.manage");
      requireSignedIn(principal, "Inviting somebody");
      const fresh = { id: engine.ids.mint("inv"), token: mintSecret("inv") };
      const { token } = fresh;
      const invitation = await command(engine, (work) => invite(work, user, fresh, body));
      return { invitation, link: `${baseUrl()}/join#token=${token}` };
    }),
    serve(orgsApi.listInvitations, async ({ engine, principal, params }) => {
      const { orgId } = personOf(principal, params);
      requireMay(principal, "org.manage");
      const items = await listInvitations(engine.store, orgId, engine.clock.now());
      return { items, next: null };
    }),
    serve(orgsApi.withdrawInvitation, async ({ engine, principal, params: { orgId, id } }) => {
      const user = personOf(principal, { orgId });
      requireMay(principal, "org.manage");
      return { invitation: await command(engine, (work) => withdrawInvitation(work, user, id)) };
    }),
  ];
}

function orgView(
  row: { id: string; name: string; slug: string; created_at: number } | undefined,
): Org {
  if (!row) throw notFound("org");
  const { id, name, slug, created_at } = row;
  return { id, name, slug, createdAt: new Date(created_at).toISOString() };
}

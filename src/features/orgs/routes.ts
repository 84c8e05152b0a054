import * as z from "zod";
import { notFound } from "#base/refusal.ts";
import {
  command,
  defineRoute,
  principalKey,
  type Route,
  requireMay,
  requireSignedIn,
} from "#engine/index.ts";
import { emailSchema, personNameSchema, ROLES } from "#features/auth/contract.ts";
import { type Auth, findOrg, lockOrg, mintSecret, saveOrg } from "#features/auth/index.ts";
import { pageOf } from "#protocol/page.ts";
import { invitationSchema, memberSchema, type Org, orgSchema } from "./contract.ts";
import { invite, listInvitations, withdrawInvitation } from "./invitations.ts";
import { changeRole, listMemberViews, removeMember } from "./members.ts";
import { overseeRoutes } from "./oversee-routes.ts";
import { personOf } from "./person-of.ts";
import { askForPurge } from "./purge-member.ts";
import { dropMachines, stopWorkOf, type Work } from "./stop-work.ts";

const TAG = "Organisation";
const role = z.enum(ROLES);
const oneOrg = z.object({ org: orgSchema });
const oneMember = z.object({ member: memberSchema });
const oneInvitation = z.object({ invitation: invitationSchema });

export interface OrgRouteOptions {
  auth: Pick<Auth, "forget">;
  work: () => Work;
  /** Where people reach this server. */
  baseUrl: () => string;
}

export function orgRoutes(options: OrgRouteOptions): readonly Route[] {
  return [...ownRoutes(), ...memberRoutes(options), ...invitationRoutes(options), ...overseeRoutes];
}

function ownRoutes(): Route[] {
  return [
    defineRoute({
      method: "get",
      path: "/api/orgs/{orgId}",
      summary: "The organisation",
      tag: TAG,
      response: oneOrg,
      async handle({ engine, principal, params }) {
        requireMay(principal, "org.read");
        const { orgId } = personOf(principal, params);
        return { org: orgView(await engine.store.read((reader) => findOrg(reader, orgId))) };
      },
    }),
    defineRoute({
      method: "patch",
      path: "/api/orgs/{orgId}",
      summary: "Rename the organisation (admins)",
      tag: TAG,
      body: z.strictObject({ name: personNameSchema }),
      response: oneOrg,
      async handle({ engine, principal, params, body }) {
        const { orgId } = personOf(principal, params);
        requireMay(principal, "org.manage");
        return command(engine, async (work) => {
          const org = await lockOrg(work.tx, orgId);
          await saveOrg(work.tx, { id: orgId, name: body.name });
          const by = principalKey(principal);
          await work.tell({ orgId, by, area: "org", action: "renamed", subjectId: orgId });
          return { org: orgView(org && { ...org, name: body.name }) };
        });
      },
    }),
  ];
}

function memberRoutes({ auth, work }: OrgRouteOptions): Route[] {
  return [
    defineRoute({
      method: "get",
      path: "/api/orgs/{orgId}/members",
      summary: "Who belongs to the organisation; for admins, with removed=true, who has left too",
      tag: TAG,
      query: z.strictObject({ removed: z.enum(["true", "false"]).default("false") }),
      response: pageOf(memberSchema),
      async handle({ engine, principal, params, query }) {
        requireMay(principal, "org.read");
        const user = personOf(principal, params);
        const withRemoved = query.removed === "true";
        if (withRemoved) requireMay(principal, "org.manage");
        return { items: await listMemberViews(engine.store, user, withRemoved), next: null };
      },
    }),
    defineRoute({
      method: "patch",
      path: "/api/orgs/{orgId}/members/{userId}",
      summary:
        "Make somebody an admin, or a member (admins); a member's runners for everybody are let go",
      tag: TAG,
      body: z.strictObject({ role }),
      response: oneMember,
      async handle({ engine, principal, params, body }) {
        const user = personOf(principal, params);
        requireMay(principal, "org.manage");
        if (body.role === "admin") requireSignedIn(principal, "Making somebody an admin");
        const { member, tokens } = await command(engine, (change) =>
          changeRole(change, user, params.userId ?? "", body.role),
        );
        auth.forget();
        await dropMachines(work(), tokens);
        return { member };
      },
    }),
    defineRoute({
      method: "delete",
      path: "/api/orgs/{orgId}/members/{userId}",
      summary: "Remove a member (admins), or leave: their work stops, their data stays",
      tag: TAG,
      response: z.object({}),
      async handle({ engine, principal, params }) {
        const user = personOf(principal, params);
        const isSelf = params.userId === user.userId;
        requireMay(principal, isSelf ? "account.manage" : "org.manage");
        if (isSelf) requireSignedIn(principal, "Leaving the organisation");
        const { removed, tokens } = await command(engine, (change) =>
          removeMember(change, user, params.userId ?? ""),
        );
        auth.forget();
        await dropMachines(work(), tokens);
        await stopWorkOf(work(), removed);
        return {};
      },
    }),
    purgeRoute,
  ];
}

const purgeRoute = defineRoute({
  method: "post",
  path: "/api/orgs/{orgId}/members/{userId}/purge",
  summary: "Remove everything of somebody who has left, for good (admins); name them to confirm",
  tag: TAG,
  body: z.strictObject({ confirm: z.string().max(300) }),
  status: 202,
  response: oneMember,
  async handle({ engine, principal, params, body }) {
    const user = personOf(principal, params);
    requireMay(principal, "org.manage");
    const member = await command(engine, (work) =>
      askForPurge(work, user, params.userId ?? "", body.confirm),
    );
    return { member };
  },
});

function invitationRoutes({ baseUrl }: OrgRouteOptions): Route[] {
  return [
    defineRoute({
      method: "post",
      path: "/api/orgs/{orgId}/invitations",
      summary:
        "Invite somebody (admins); the link is shown once and is good for 7 days. `userId` brings back somebody who has left, to all that was theirs",
      tag: TAG,
      body: z.strictObject({
        email: emailSchema.optional(),
        role: role.default("member"),
        userId: z.string().min(1).max(100).optional(),
      }),
      status: 201,
      response: oneInvitation.extend({ link: z.string() }),
      async handle({ engine, principal, params, body }) {
        const user = personOf(principal, params);
        requireMay(principal, "org.manage");
        requireSignedIn(principal, "Inviting somebody");
        const fresh = { id: engine.ids.mint("inv"), token: mintSecret("inv") };
        const { token } = fresh;
        const invitation = await command(engine, (work) => invite(work, user, fresh, body));
        return { invitation, link: `${baseUrl()}/join#token=${token}` };
      },
    }),
    defineRoute({
      method: "get",
      path: "/api/orgs/{orgId}/invitations",
      summary: "Invitations that wait (admins)",
      tag: TAG,
      response: pageOf(invitationSchema),
      async handle({ engine, principal, params }) {
        const { orgId } = personOf(principal, params);
        requireMay(principal, "org.manage");
        const items = await listInvitations(engine.store, orgId, engine.clock.now());
        return { items, next: null };
      },
    }),
    defineRoute({
      method: "delete",
      path: "/api/orgs/{orgId}/invitations/{id}",
      summary: "Withdraw an invitation (admins)",
      tag: TAG,
      response: oneInvitation,
      async handle({ engine, principal, params }) {
        const user = personOf(principal, params);
        requireMay(principal, "org.manage");
        const id = params.id ?? "";
        return { invitation: await command(engine, (work) => withdrawInvitation(work, user, id)) };
      },
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

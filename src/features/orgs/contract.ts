/** The organisation, its members and invitations on the wire, and their routes. */
import * as z from "zod";
import { emailSchema, personNameSchema, ROLES } from "#features/auth/contract.ts";
import { apiRoute } from "#protocol/api-route.ts";
import { isoTime, pageOf, pageQuery } from "#protocol/page.ts";
import { LIFECYCLES, overseenSessionSchema, SESSION_KINDS } from "#protocol/sessions.ts";

const role = z.enum(ROLES);

export const orgSchema = z
  .object({ id: z.string(), name: z.string(), slug: z.string(), createdAt: isoTime })
  .meta({ id: "Org" });
export type Org = z.infer<typeof orgSchema>;

export const memberSchema = z
  .object({
    userId: z.string(),
    name: z.string(),
    role,
    /** Shown to admins and to the person. */
    email: z.string().nullable().optional(),
    joinedAt: isoTime,
    /** Former members are listed on request; purged: none of their data is left. */
    state: z.enum(["here", "removed", "purging", "purged"]),
  })
  .meta({ id: "Member" });
export type Member = z.infer<typeof memberSchema>;

export const invitationSchema = z
  .object({
    id: z.string(),
    email: z.string().nullable(),
    role,
    /** Former member who returns to their old account; null: a new one. */
    userId: z.string().nullable(),
    createdAt: isoTime,
    expiresAt: isoTime,
  })
  .meta({ id: "Invitation" });
export type Invitation = z.infer<typeof invitationSchema>;

const TAG = "Organisation";
const ORG = "/api/orgs/{orgId}";
const MEMBERS = `${ORG}/members` as const;
const MEMBER = `${MEMBERS}/{userId}` as const;
const INVITATIONS = `${ORG}/invitations` as const;
const SESSIONS = `${ORG}/sessions` as const;
const oneOrg = z.object({ org: orgSchema });
const oneMember = z.object({ member: memberSchema });
const oneInvitation = z.object({ invitation: invitationSchema });

export const orgsApi = {
  get: apiRoute({
    method: "get",
    path: ORG,
    summary: "The organisation",
    tag: TAG,
    response: oneOrg,
  }),
  update: apiRoute({
    method: "patch",
    path: ORG,
    summary: "Rename the organisation (admins)",
    tag: TAG,
    body: z.strictObject({ name: personNameSchema }),
    response: oneOrg,
  }),
  listMembers: apiRoute({
    method: "get",
    path: MEMBERS,
    summary: "The members of the organisation; for admins, `removed=true` adds those who have left",
    tag: TAG,
    query: z.strictObject({ removed: z.enum(["true", "false"]).default("false") }),
    response: pageOf(memberSchema),
  }),
  updateMember: apiRoute({
    method: "patch",
    path: MEMBER,
    summary:
      "Make somebody an admin or a member (admins); an admin who becomes a member loses the runners they shared with everybody",
    tag: TAG,
    body: z.strictObject({ role }),
    response: oneMember,
  }),
  removeMember: apiRoute({
    method: "delete",
    path: MEMBER,
    summary: "Remove a member (admins), or leave: their work stops, their data stays",
    tag: TAG,
    response: z.object({}),
  }),
  purgeMember: apiRoute({
    method: "post",
    path: `${MEMBER}/purge`,
    summary:
      "Delete all data of somebody who has left, permanently (admins); type their name to confirm",
    tag: TAG,
    body: z.strictObject({ confirm: z.string().max(300) }),
    status: 202,
    response: oneMember,
  }),
  invite: apiRoute({
    method: "post",
    path: INVITATIONS,
    summary:
      "Invite somebody (admins); the link is shown once and is valid for 7 days. `userId` brings back somebody who has left, with all their data",
    tag: TAG,
    body: z.strictObject({
      email: emailSchema.optional(),
      role: role.default("member"),
      userId: z.string().min(1).max(100).optional(),
    }),
    status: 201,
    response: oneInvitation.extend({ link: z.string() }),
  }),
  listInvitations: apiRoute({
    method: "get",
    path: INVITATIONS,
    summary: "Pending invitations (admins)",
    tag: TAG,
    response: pageOf(invitationSchema),
  }),
  withdrawInvitation: apiRoute({
    method: "delete",
    path: `${INVITATIONS}/{id}`,
    summary: "Withdraw an invitation (admins)",
    tag: TAG,
    response: oneInvitation,
  }),
  listSessions: apiRoute({
    method: "get",
    path: SESSIONS,
    summary: "Everybody's sessions, newest first: state and cost, without content (admins)",
    tag: TAG,
    query: z.strictObject({
      user: z.string().max(200).optional(),
      kind: z.enum(SESSION_KINDS).optional(),
      lifecycle: z.enum(LIFECYCLES).optional(),
      ...pageQuery,
    }),
    response: pageOf(overseenSessionSchema),
  }),
  openSession: apiRoute({
    method: "post",
    path: `${SESSIONS}/{sessionId}/open`,
    summary: "Read somebody's session for an hour; its owner is notified, with the reason (admins)",
    tag: TAG,
    body: z.strictObject({ reason: z.string().trim().min(3).max(500) }),
    response: z.object({ session: overseenSessionSchema }),
  }),
};

/** The org, its members and invitations on the wire. */
import * as z from "zod";
import { isoTime } from "#protocol/page.ts";

const role = z.enum(["admin", "member"]);

export const orgSchema = z
  .object({ id: z.string(), name: z.string(), slug: z.string(), createdAt: isoTime })
  .meta({ id: "Org" });
export type Org = z.infer<typeof orgSchema>;

export const memberSchema = z
  .object({
    userId: z.string(),
    name: z.string(),
    role,
    /** For admins, and of oneself. */
    email: z.string().nullable().optional(),
    joinedAt: isoTime,
    /** Those who have left are listed when they are asked for; purged: nothing of theirs is left. */
    state: z.enum(["here", "removed", "purging", "purged"]),
  })
  .meta({ id: "Member" });
export type Member = z.infer<typeof memberSchema>;

export const invitationSchema = z
  .object({
    id: z.string(),
    email: z.string().nullable(),
    role,
    /** Of somebody who has left and is to come back to what was theirs. */
    userId: z.string().nullable(),
    createdAt: isoTime,
    expiresAt: isoTime,
  })
  .meta({ id: "Invitation" });
export type Invitation = z.infer<typeof invitationSchema>;

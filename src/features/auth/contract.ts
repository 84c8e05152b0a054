/** People and keys on the wire. */
import * as z from "zod";
import { line } from "#base/text-schemas.ts";
import { apiRoute } from "#protocol/api-route.ts";
import { isoTime, pageOf } from "#protocol/page.ts";

export const ROLES = ["admin", "member"] as const;

/**
 * Scopes of API keys. `approvals` decides what agents ask for, once each; `runners` lets the maker's
 * own machines in; `account` is the maker's own account (keys, profile); `admin` counts only while the
 * maker is an admin. No scope implies another.
 */
export const KEY_SCOPES = [
  "sessions:read",
  "sessions:write",
  "tasks",
  "memory",
  "mail",
  "approvals",
  "runners",
  "secrets",
  "account",
  "admin",
] as const;

export const apiKeySchema = z
  .object({
    id: z.string(),
    name: z.string(),
    scopes: z.array(z.string()),
    createdAt: isoTime,
    expiresAt: isoTime.nullable(),
    lastUsedAt: isoTime.nullable(),
  })
  .meta({ id: "ApiKey" });
export type ApiKey = z.infer<typeof apiKeySchema>;

/** What lets a machine in, whether one has come with it or not. */
export const runnerTokenSchema = z
  .object({
    id: z.string(),
    name: z.string(),
    /** Whose runs it takes: `org`, or `user:<id>`. */
    scope: z.string(),
    tags: z.array(z.string()),
    createdAt: isoTime,
    expiresAt: isoTime.nullable(),
    lastUsedAt: isoTime.nullable(),
  })
  .meta({ id: "RunnerToken" });
export type RunnerToken = z.infer<typeof runnerTokenSchema>;

export const userSchema = z
  .object({
    id: z.string(),
    name: z.string(),
    email: z.string().nullable(),
    role: z.enum(ROLES),
    timezone: z.string(),
    locale: z.string(),
  })
  .meta({ id: "User" });
export type User = z.infer<typeof userSchema>;

export const meSchema = z.object({
  user: userSchema,
  org: z.object({ id: z.string(), name: z.string(), slug: z.string() }),
  scopes: z.array(z.string()),
});
export type Me = z.infer<typeof meSchema>;

/** A service that people can sign in through, as its button says. */
export const offeredProviderSchema = z
  .object({ id: z.string(), name: z.string() })
  .meta({ id: "SignInProvider" });
export type OfferedProvider = z.infer<typeof offeredProviderSchema>;

export const linkedAccountSchema = z
  .object({
    id: z.string(),
    provider: z.string(),
    label: z.string(),
    linkedAt: isoTime,
    lastUsedAt: isoTime.nullable(),
  })
  .meta({ id: "LinkedAccount" });
export type LinkedAccount = z.infer<typeof linkedAccountSchema>;

/** Compared without regard to case, so it is kept in one. */
export const emailSchema = z
  .string()
  .trim()
  .toLowerCase()
  .max(254)
  .regex(/^[^\s@<>",;:\\\p{Cc}]+@[^\s@<>",;:\\\p{Cc}]+$/u, "must be an e-mail address");

export const MIN_PASSWORD_CHARS = 12;
export const passwordSchema = z.string().min(MIN_PASSWORD_CHARS).max(256);

/** One line that people read, without anything that could command a terminal or a header. */
export const personNameSchema = z
  .string()
  .trim()
  .min(1)
  .max(100)
  .regex(/^[^\p{Cc}\p{Cf}\p{Cs}]*$/u, "must be one line of plain text");

export const timezoneSchema = z
  .string()
  .max(100)
  .refine(isTimezone, "must be a time zone such as Europe/Berlin");

export const localeSchema = z
  .string()
  .max(50)
  .refine(isLocale, "must be a language tag such as en or de-CH");

function isTimezone(name: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

function isLocale(tag: string): boolean {
  try {
    return Intl.getCanonicalLocales(tag).length === 1;
  } catch {
    return false;
  }
}

export const runnerTokensApi = {
  create: apiRoute({
    method: "post",
    path: "/api/runners/tokens",
    summary: "Create a token for a new runner; it is shown once",
    tag: "Runners",
    body: z.strictObject({
      name: line(200).min(1),
      tags: z.array(line(100).min(1)).max(50).default([]),
      /** Whose runs it takes: everybody's (admins), or its owner's alone. */
      scope: z.enum(["org", "user"]).optional(),
    }),
    status: 201,
    response: z.object({ id: z.string(), name: z.string(), scope: z.string(), token: z.string() }),
  }),
  list: apiRoute({
    method: "get",
    path: "/api/runners/tokens",
    summary: "Tokens for runners: your own; for admins all",
    tag: "Runners",
    response: pageOf(runnerTokenSchema),
  }),
  revoke: apiRoute({
    method: "delete",
    path: "/api/runner-tokens/{id}",
    aliases: ["/api/runners/tokens/{id}"],
    summary: "Revoke a token; runners that use it are disconnected at once",
    tag: "Runners",
    response: z.object({ token: runnerTokenSchema }),
  }),
};

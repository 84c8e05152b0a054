/** People, keys and ways to sign in on the wire. */
import * as z from "zod";
import { line } from "#base/text/text-schemas.ts";
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

const apiKeySchema = z
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

/** A token that lets a machine in. */
export const runnerTokenSchema = z
  .object({
    id: z.string(),
    name: z.string(),
    /** Owner of the runs it takes: `org`, or `user:<id>`. */
    scope: z.string(),
    tags: z.array(z.string()),
    createdAt: isoTime,
    expiresAt: isoTime.nullable(),
    lastUsedAt: isoTime.nullable(),
  })
  .meta({ id: "RunnerToken" });
export type RunnerToken = z.infer<typeof runnerTokenSchema>;

const userSchema = z
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

const meSchema = z.object({
  user: userSchema,
  org: z.object({ id: z.string(), name: z.string(), slug: z.string() }),
  scopes: z.array(z.string()),
});
export type Me = z.infer<typeof meSchema>;

/** A service that people can sign in through, as its button says. */
const signInOptionSchema = z
  .object({ id: z.string(), name: z.string() })
  .meta({ id: "SignInProvider" });
export type SignInOption = z.infer<typeof signInOptionSchema>;

const linkedAccountSchema = z
  .object({
    id: z.string(),
    provider: z.string(),
    label: z.string(),
    linkedAt: isoTime,
    lastUsedAt: isoTime.nullable(),
  })
  .meta({ id: "LinkedAccount" });
export type LinkedAccount = z.infer<typeof linkedAccountSchema>;

/** E-mail addresses are compared without regard to case, so they are stored in lower case. */
export const emailSchema = z
  .string()
  .trim()
  .toLowerCase()
  .max(254)
  .regex(/^[^\s@<>",;:\\\p{Cc}]+@[^\s@<>",;:\\\p{Cc}]+$/u, "must be an e-mail address");

export const MIN_PASSWORD_CHARS = 12;
export const passwordSchema = z.string().min(MIN_PASSWORD_CHARS).max(256);

/** One line for people to read, without control characters that a terminal or a header would obey. */
export const personNameSchema = z
  .string()
  .trim()
  .min(1)
  .max(100)
  .regex(/^[^\p{Cc}\p{Cf}\p{Cs}]*$/u, "must be one line of plain text");

const timezoneSchema = z
  .string()
  .max(100)
  .refine(isTimezone, "must be a time zone such as Europe/Berlin");

const localeSchema = z
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
      /** Owner of the runs it takes: everybody (admins only), or its maker alone. */
      scope: z.enum(["org", "user"]).optional(),
    }),
    status: 201,
    response: z.object({ id: z.string(), name: z.string(), scope: z.string(), token: z.string() }),
  }),
  list: apiRoute({
    method: "get",
    path: "/api/runners/tokens",
    summary: "Runner tokens: your own; for admins, everybody's",
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

/** A password to check. A longer one than any that exists is not worth hashing. */
const givenPassword = z.string().min(1).max(256);
const linkToken = z.strictObject({ token: line(500).min(1) });
const signInSchema = z.union([
  linkToken,
  z.strictObject({ key: line(500).min(1) }),
  z.strictObject({ email: emailSchema, password: givenPassword }),
]);
export type SignInRequest = z.infer<typeof signInSchema>;

const named = z.object({ id: z.string(), name: z.string() });
const inspectedLinkSchema = z.object({
  user: named,
  /** The person who is signed in at this page now. */
  current: named.nullable(),
  /** True if the page asks the person before it uses the link, even where nobody is signed in. */
  needsConsent: z.boolean(),
});
export type InspectedLink = z.infer<typeof inspectedLinkSchema>;

const joinSchema = z.strictObject({
  name: personNameSchema,
  email: emailSchema,
  password: passwordSchema,
  timezone: timezoneSchema.optional(),
  locale: localeSchema.optional(),
});
export type JoinRequest = z.infer<typeof joinSchema>;

const profileChangeSchema = z.strictObject({
  name: personNameSchema.optional(),
  timezone: timezoneSchema.optional(),
  locale: localeSchema.optional(),
});
export type ProfileChange = z.infer<typeof profileChangeSchema>;

const passwordChangeSchema = z.strictObject({
  currentPassword: givenPassword.optional(),
  newPassword: passwordSchema,
  email: emailSchema.optional(),
});
export type PasswordChange = z.infer<typeof passwordChangeSchema>;

const newApiKeySchema = z.strictObject({
  name: line(100).min(1),
  scopes: z.array(z.enum(KEY_SCOPES)).min(1).max(KEY_SCOPES.length),
  expiresAt: z.iso.datetime({ offset: true }).optional(),
});

/** A query field from outside: a provider may send unknown values, and an attacker anything. */
const lenient = (max: number) => z.string().max(max).optional().catch(undefined);

const TAG = "You";
const nothing = z.strictObject({});
const empty = z.object({});
const address = z.object({ url: z.string() });
const redirect = z.unknown();
const START = "/api/auth/{provider}/start";

export const authApi = {
  signIn: apiRoute({
    method: "post",
    path: "/api/auth/sign-in",
    summary: "Sign a browser in with e-mail and password, the token of a one-time link, or a key",
    tag: TAG,
    body: signInSchema,
    response: empty,
  }),
  inspectLink: apiRoute({
    method: "post",
    path: "/api/auth/links/inspect",
    summary: "The person whom a one-time link would sign in; the link stays usable",
    tag: TAG,
    body: linkToken,
    response: inspectedLinkSchema,
  }),
  acceptInvitation: apiRoute({
    method: "post",
    path: "/api/invitations/{token}/accept",
    summary: "Accept an invitation and sign in",
    tag: TAG,
    body: joinSchema,
    status: 201,
    response: z.object({ user: userSchema }),
  }),
  signOut: apiRoute({
    method: "post",
    path: "/api/auth/sign-out",
    summary: "Sign this browser out",
    tag: TAG,
    body: nothing,
    response: empty,
  }),
  signOutEverywhere: apiRoute({
    method: "post",
    path: "/api/auth/sign-out-everywhere",
    summary: "Sign out all your browsers; your keys stay valid",
    tag: TAG,
    body: nothing,
    response: empty,
  }),
  createLink: apiRoute({
    method: "post",
    path: "/api/auth/links",
    summary: "Create a one-time sign-in link for yourself",
    tag: TAG,
    body: nothing,
    status: 201,
    response: z.object({ link: z.string(), expiresAt: z.string() }),
  }),
  listProviders: apiRoute({
    method: "get",
    path: "/api/auth/providers",
    summary: "Services that people can sign in with",
    tag: TAG,
    response: pageOf(signInOptionSchema),
  }),
  redirectToProvider: apiRoute({
    method: "get",
    path: START,
    summary:
      "Redirect a program to the service, and a browser to the sign-in page (302); `next` is the page to return to",
    tag: TAG,
    query: z.object({ next: lenient(2_000) }),
    response: redirect,
  }),
  startSignIn: apiRoute({
    method: "post",
    path: START,
    summary:
      "Start to sign in, or to join with an invitation; the browser continues at the returned address",
    tag: TAG,
    body: z.union([
      z.strictObject({ invitation: line(500).min(1) }),
      z.strictObject({ next: line(2_000) }),
    ]),
    response: address,
  }),
  startLink: apiRoute({
    method: "post",
    path: "/api/auth/{provider}/link",
    summary: "Start to link an account to yours; the browser continues at the returned address",
    tag: TAG,
    body: z.strictObject({ currentPassword: givenPassword.optional() }),
    response: address,
  }),
  callback: apiRoute({
    method: "get",
    path: "/api/auth/{provider}/callback",
    summary: "Return address for the service; redirects the browser to a page (302)",
    tag: TAG,
    query: z.object({
      state: lenient(200),
      code: lenient(4_096),
      error: lenient(200),
      iss: lenient(500),
    }),
    response: redirect,
  }),
};

const API_KEYS = "/api/me/api-keys";
const oneKey = z.object({ apiKey: apiKeySchema });

export const meApi = {
  get: apiRoute({
    method: "get",
    path: "/api/me",
    summary: "Your account, your organisation and the scopes of your credential",
    tag: TAG,
    response: meSchema,
  }),
  update: apiRoute({
    method: "patch",
    path: "/api/me",
    summary: "Change your name, time zone or language",
    tag: TAG,
    body: profileChangeSchema,
    response: z.object({ user: userSchema }),
  }),
  setPassword: apiRoute({
    method: "put",
    path: "/api/me/password",
    summary: "Set or change your password; your other browsers are signed out",
    tag: TAG,
    body: passwordChangeSchema,
    response: z.object({ user: userSchema }),
  }),
  createApiKey: apiRoute({
    method: "post",
    path: API_KEYS,
    summary: "Create a key for a program; it is shown only once",
    tag: TAG,
    body: newApiKeySchema,
    status: 201,
    response: oneKey.extend({ key: z.string() }),
  }),
  listApiKeys: apiRoute({
    method: "get",
    path: API_KEYS,
    summary: "Your keys and when each was last used",
    tag: TAG,
    response: pageOf(apiKeySchema),
  }),
  revokeApiKey: apiRoute({
    method: "delete",
    path: `${API_KEYS}/{id}`,
    summary: "Revoke a key and everything that was created with it",
    tag: TAG,
    response: oneKey,
  }),
  listAccounts: apiRoute({
    method: "get",
    path: "/api/me/accounts",
    summary: "Accounts of other services that you sign in with",
    tag: TAG,
    response: pageOf(linkedAccountSchema),
  }),
  unlinkAccount: apiRoute({
    method: "delete",
    path: "/api/me/accounts/{id}",
    summary: "Unlink an account; your other browsers are signed out",
    tag: TAG,
    response: z.object({ account: linkedAccountSchema }),
  }),
};

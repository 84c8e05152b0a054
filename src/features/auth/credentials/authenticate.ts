/**
 * Turns credentials into principals, which are built from the server's rows only. Checked credentials are
 * cached for a moment, so that a busy client does not cost a query per request.
 */
import type { Reader, Store } from "#base/store/index.ts";
import type { CredentialKind, CredentialRow, Principal } from "#engine/index.ts";
import { findCredential, findCredentialByHash, findUser, isActiveMember } from "../queries.ts";
import type { HeldCredentialRow } from "../schema.ts";
import { isBoundTo, type PageClaim } from "../sign-in/page-binding.ts";
import { isGood } from "./issue.ts";
import { readRights } from "./runner-tokens.ts";
import { hashSecret } from "./secrets.ts";
import { userPrincipal } from "./user-principal.ts";

/**
 * Together with the pause between two checks of an open socket, less than the second that a revocation may
 * take.
 */
const REMEMBER_MS = 500;
const MAX_REMEMBERED = 10_000;

export interface Caller {
  principal: Principal;
  credentialId: string;
  kind: CredentialKind;
  expiresAt: number | null;
}

/** Creates the authenticator. `used` collects the last use of each credential. */
export function createAuthenticator(store: Store, now: () => number, used: Map<string, number>) {
  const remembered = new Map<string, { found: CheckedCredential; until: number }>();

  async function find(hash: string): Promise<CheckedCredential | undefined> {
    const at = now();
    const known = remembered.get(hash);
    if (known && known.until > at) return known.found;
    const found = await store.read(async (reader) =>
      callerBy(reader, await findCredentialByHash(reader, hash), at),
    );
    remembered.delete(hash);
    if (found) {
      if (remembered.size >= MAX_REMEMBERED) remembered.clear();
      const until = Math.min(at + REMEMBER_MS, found.caller.expiresAt ?? Number.POSITIVE_INFINITY);
      remembered.set(hash, { found, until });
    }
    return found;
  }

  return {
    async authenticate(secret: string, page: PageClaim | "any" = {}): Promise<Caller | undefined> {
      const found = await find(hashSecret(secret));
      if (!found) return undefined;
      const { caller, pageHash } = found;
      if (caller.kind === "cookie" && page !== "any" && !isBoundTo(pageHash, page))
        return undefined;
      used.set(caller.credentialId, now());
      return caller;
    },

    /** True when a browser was signed out, here or everywhere; false when its session has merely expired. */
    async wasSignedOut(secret: string): Promise<boolean> {
      const row = await store.read((reader) => findCredentialByHash(reader, hashSecret(secret)));
      return row?.kind === "cookie" && row.revoked_at !== null;
    },

    async findHolder(credentialId: string): Promise<Principal | undefined> {
      const found = await store.read(async (reader) =>
        callerBy(reader, await findCredential(reader, credentialId), now()),
      );
      return found?.caller.principal;
    },

    forget: () => remembered.clear(),
  };
}

interface CheckedCredential {
  caller: Caller;
  /** Hash of the page that a browser's session is bound to. */
  pageHash: string | null;
}

async function callerBy(
  reader: Reader,
  credential: HeldCredentialRow | undefined,
  now: number,
): Promise<CheckedCredential | undefined> {
  if (!credential || !isGood(credential, now) || credential.kind === "sign_in_link")
    return undefined;
  const principal = await principalOf(reader, credential);
  if (!principal) return undefined;
  const { id: credentialId, kind, expires_at: expiresAt, page_hash: pageHash } = credential;
  return { caller: { principal, credentialId, kind, expiresAt }, pageHash };
}

async function principalOf(
  reader: Reader,
  credential: HeldCredentialRow,
): Promise<Principal | undefined> {
  if (credential.principal_kind === "runner") return runnerPrincipal(credential);
  const user = await findUser(reader, credential.principal_id);
  return user && isActiveMember(user) ? userPrincipal(user, credential) : undefined;
}

function runnerPrincipal(credential: CredentialRow): Principal {
  const { scope, tags } = readRights(credential);
  const { org_id: orgId, id: credentialId, name, hash: tokenHash } = credential;
  return { kind: "runner", orgId, credentialId, tokenHash, scope, tags, name };
}

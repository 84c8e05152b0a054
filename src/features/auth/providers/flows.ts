/**
 * A sign-in between its start and the provider's response. A row holds it, so that any server can finish it.
 * It is valid for ten minutes, once, and only in the browser that began it.
 */
import type { Store } from "#base/store/index.ts";
import { deleteFlow, findFlow, insertFlow } from "../account-queries.ts";
import { hashSecret, mintSecret } from "../credentials/secrets.ts";
import type { SignInFlowRow } from "../schema.ts";
import { pageHashOf } from "../sign-in/page-binding.ts";
import { nonceOf, verifierOf } from "./challenge.ts";
import { nextPath } from "./next-path.ts";
import { problem } from "./problems.ts";
import type { SignInProvider, SignInSecrets } from "./provider.ts";

export const FLOW_TTL_MS = 10 * 60_000;

export interface NewFlow {
  purpose: SignInFlowRow["purpose"];
  next?: string | undefined;
  /** The cookie that the browser sent. */
  replaces?: string | undefined;
  /** Key of the page that begins it. */
  pageKey?: string | undefined;
  invitationToken?: string | undefined;
  userId?: string;
  credentialId?: string;
}

/** Address to send the browser to, and the secret that it keeps meanwhile. */
export interface StartedFlow {
  url: string;
  flow: string;
  /** Identifies the flow in the browser, which may have begun more than one. */
  state: string;
}

export async function startFlow(
  store: Store,
  provider: SignInProvider,
  redirectUri: string,
  beginning: NewFlow,
): Promise<StartedFlow> {
  const [state, flow] = [mintSecret("state"), mintSecret("flow")];
  const url = await provider.authorizeUrl({ state, ...secretsOf(flow), redirectUri });
  const { purpose, next, replaces, pageKey, invitationToken, userId, credentialId } = beginning;
  await store.transaction((tx) =>
    insertFlow(tx, {
      state_hash: hashSecret(state),
      browser_hash: hashSecret(flow),
      provider: provider.id,
      issuer: provider.issuer,
      purpose,
      invitation_hash: invitationToken === undefined ? null : hashSecret(invitationToken),
      user_id: userId ?? null,
      credential_id: credentialId ?? null,
      replaces_hash: replaces === undefined ? null : hashSecret(replaces),
      page_hash: pageHashOf(pageKey),
      next: nextPath(next),
      created_at: tx.now,
      expires_at: tx.now + FLOW_TTL_MS,
    }),
  );
  return { url, flow, state };
}

export function secretsOf(flow: string): Pick<SignInSecrets, "verifier" | "nonce"> {
  return { verifier: verifierOf(flow), nonce: nonceOf(flow) };
}

/** Takes the flow, so that nobody can take it again, whatever its outcome. */
export function takeFlow(
  store: Store,
  { id, issuer }: SignInProvider,
  state: string | undefined,
  flow: string | undefined,
): Promise<SignInFlowRow> {
  if (state === undefined || flow === undefined) throw problem("sign_in_expired");
  const [stateHash, browserHash] = [hashSecret(state), hashSecret(flow)];
  return store
    .transaction(async (tx) => {
      const row = await findFlow(tx, stateHash);
      const isOurs =
        row?.browser_hash === browserHash && row.provider === id && row.issuer === issuer;
      // Another browser cannot use it up either.
      if (!isOurs || !(await deleteFlow(tx, stateHash)) || row.expires_at <= tx.now)
        return undefined;
      return row;
    })
    .then((row) => {
      if (!row) throw problem("sign_in_expired");
      return row;
    });
}

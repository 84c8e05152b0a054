/**
 * Handles a person whom a provider has identified: they sign in by their linked account, join with an
 * invitation, or link the account to the person they are here. An e-mail address alone never opens anything:
 * providers differ in how they verify addresses, and addresses change hands.
 */
import type { Ids } from "#base/ids.ts";
import type { Tx } from "#base/store/index.ts";
import { findAccount, insertAccount, listAccountsOf, markAccountUsed } from "../account-queries.ts";
import { type AuthContext, isGood } from "../credentials/issue.ts";
import { mintSecret } from "../credentials/secrets.ts";
import { findCredential, findUser, isActiveMember, lockOrg, lockUser } from "../queries.ts";
import type { LinkedAccountRow, PersonRow, SignInFlowRow } from "../schema.ts";
import { accountChange } from "../sign-in/linked-accounts.ts";
import { type OpenedBrowser, openBrowser } from "../sign-in/sign-in.ts";
import { problem } from "./problems.ts";
import type { Identity, SignInProvider } from "./provider.ts";

const MAX_ACCOUNTS = 10;

/** Makes a member of a person with an invitation, in the given transaction; throws if that is not allowed. */
export type AdmitMember = (
  tx: Tx,
  guest: {
    invitationHash: string;
    newId: string;
    name: string;
    /** Verified addresses. */
    emails: readonly string[];
  },
) => Promise<PersonRow>;

export interface SignInContext extends AuthContext {
  admit: AdmitMember;
}

/** Returns undefined when the browser was signed in already and stays so. */
export async function applyIdentity(
  context: SignInContext,
  provider: SignInProvider,
  identity: Identity,
  flow: SignInFlowRow,
): Promise<OpenedBrowser | undefined> {
  const arrival = { identity, flow, account: accountOf(provider, identity, context.ids) };
  const newId = context.ids.mint("usr");
  const secret = mintSecret("web");
  return context.store.transaction(async (tx) => {
    if (flow.purpose === "link") return linkAccount(tx, context, arrival);
    const user =
      flow.purpose === "join"
        ? await joinAs(tx, context, arrival, newId)
        : await signInAs(tx, arrival);
    const replacesHash = flow.replaces_hash ?? undefined;
    return openBrowser(tx, context, { user, secret, replacesHash, pageHash: flow.page_hash });
  });
}

type NewAccount = Pick<
  LinkedAccountRow,
  "id" | "provider" | "issuer" | "subject" | "label" | "last_used_at"
>;

interface IdentifiedFlow {
  identity: Identity;
  flow: SignInFlowRow;
  account: NewAccount;
}

function accountOf({ id, issuer }: SignInProvider, identity: Identity, ids: Ids): NewAccount {
  const { subject, label } = identity;
  // Databases differ in the text they can store, and two subjects that look the same must not become one.
  if (!subject.isWellFormed() || /[\p{Cc}\p{Cf}]/u.test(subject))
    throw problem("identity_not_confirmed", "the subject is no plain text");
  return { id: ids.mint("lnk"), provider: id, issuer, subject, label, last_used_at: null };
}

async function signInAs(tx: Tx, { account }: IdentifiedFlow): Promise<PersonRow> {
  const known = await findAccount(tx, account);
  const user = known && (await lockUser(tx, known.user_id));
  // Read again: the account may have been unlinked before its owner was locked.
  const now = user && (await findAccount(tx, account));
  // A former member gets the same refusal as a stranger.
  if (!user || !isActiveMember(user) || now?.user_id !== user.id) throw problem("account_unknown");
  await markAccountUsed(tx, now.id, account.label);
  return user;
}

async function joinAs(
  tx: Tx,
  context: SignInContext,
  { identity, flow, account }: IdentifiedFlow,
  newId: string,
): Promise<PersonRow> {
  const { name, emails } = identity;
  const invitationHash = flow.invitation_hash ?? "";
  // `admit` locks the organisation, so that nobody else gets the account meanwhile.
  const user = await context.admit(tx, { invitationHash, newId, name, emails });
  if (await findAccount(tx, account)) throw problem("account_taken");
  await insertFor(tx, context, user, { ...account, last_used_at: tx.now });
  return user;
}

async function linkAccount(
  tx: Tx,
  context: SignInContext,
  { flow, account }: IdentifiedFlow,
): Promise<undefined> {
  const user = await stillSignedIn(tx, flow);
  const known = await findAccount(tx, account);
  if (known?.user_id === user.id) return;
  if (known) throw problem("account_taken");
  const accounts = await listAccountsOf(tx, user.id);
  if (accounts.length >= MAX_ACCOUNTS) throw problem("account_limit_reached");
  await insertFor(tx, context, user, account);
}

async function insertFor(
  tx: Tx,
  { tell }: SignInContext,
  user: PersonRow,
  account: NewAccount,
): Promise<void> {
  const row = { ...account, org_id: user.org_id, user_id: user.id, created_at: tx.now };
  await insertAccount(tx, row);
  await tell(tx, accountChange(row, "linked"));
}

/** Refuses a person who was signed out while at the provider. */
async function stillSignedIn(tx: Tx, flow: SignInFlowRow): Promise<PersonRow> {
  const found = flow.user_id === null ? undefined : await findUser(tx, flow.user_id);
  if (!found) throw problem("sign_in_needed");
  await lockOrg(tx, found.org_id);
  const user = await lockUser(tx, found.id);
  const credential = flow.credential_id && (await findCredential(tx, flow.credential_id));
  const isStill = credential && isGood(credential, tx.now) && credential.principal_id === found.id;
  if (!user || !isActiveMember(user) || !isStill) throw problem("sign_in_needed");
  return user;
}

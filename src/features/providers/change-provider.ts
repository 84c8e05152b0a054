/** Sets and removes providers. A stored key goes only to the address it was given for. */
import { notFound, Refusal } from "#base/refusal.ts";
import { type Principal, principalKey, type SettingChange, type Work } from "#engine/index.ts";
import type { KeyCheck } from "./ask-provider.ts";
import { normalBaseUrl, USUAL_BASE_URL } from "./base-url.ts";
import { PROVIDER_NAME, type ProviderChange } from "./contract.ts";
import {
  deleteProvider,
  listProviders,
  lockProvider,
  saveAnswered,
  saveProvider,
} from "./queries.ts";
import type { ReachableProvider } from "./reachable-provider.ts";
import type { ProviderRow } from "./schema.ts";
import type { KeySealer } from "./seal-key.ts";

const MAX_PROVIDERS = 100;
/** Built-in names, which need no settings. */
const TAKEN_NAMES = new Set(["demo"]);

/** Refuses a name that no provider may have. */
export function requireName(name: string): void {
  if (PROVIDER_NAME.test(name) && !TAKEN_NAMES.has(name)) return;
  throw new Refusal(
    "invalid",
    "provider_name_invalid",
    "This name cannot be used. Start with a lower-case letter; use up to 41 lower-case letters, digits and dashes, but not demo.",
  );
}

/** Returns the provider's address and key after a change; the key is the given or the stored one. */
export function reachAfter(
  sealer: KeySealer,
  key: { orgId: string; name: string },
  change: ProviderChange,
  before: ProviderRow | undefined,
): ReachableProvider {
  const { kind, apiKey } = change;
  const baseUrl = baseUrlAfter(change, before);
  if (apiKey !== undefined) return { kind, baseUrl, apiKey };
  const secret = keptSecret(change, baseUrl, before);
  return {
    kind,
    baseUrl,
    apiKey: secret === null ? null : sealer.open(secret, { ...key, baseUrl }),
  };
}

export async function setProvider(
  work: Work,
  sealer: KeySealer,
  principal: Principal,
  name: string,
  change: ProviderChange,
  answer: KeyCheck,
): Promise<ProviderRow> {
  const { orgId } = principal;
  const before = await lockProvider(work.tx, { orgId, name });
  if (!before) await requireRoom(work, orgId);
  const baseUrl = baseUrlAfter(change, before);
  const row: ProviderRow = {
    org_id: orgId,
    name,
    kind: change.kind,
    base_url: baseUrl,
    secret:
      change.apiKey === undefined
        ? keptSecret(change, baseUrl, before)
        : sealer.seal(change.apiKey, { orgId, name, baseUrl }),
    models: modelsAfter(change, before),
    answered: answer === "answered" ? 1 : 0,
    created_by: before?.created_by ?? authorOf(principal),
    updated_at: work.now,
  };
  await saveProvider(work.tx, row);
  await work.reportChange(changeOf(principal, before ? "changed" : "added"));
  announce(work, name);
  return row;
}

/** Records that a turn reached a provider that was untried when it was saved. */
export async function noteAnswered(work: Work, orgId: string, name: string): Promise<void> {
  if ((await saveAnswered(work.tx, { orgId, name })) > 0) announce(work, name);
}

export async function removeProvider(
  work: Work,
  principal: Principal,
  name: string,
): Promise<ProviderRow> {
  const { orgId } = principal;
  const row = await lockProvider(work.tx, { orgId, name });
  if (!row) throw notFound("provider");
  await deleteProvider(work.tx, { orgId, name });
  await work.reportChange(changeOf(principal, "removed"));
  announce(work, name);
  return row;
}

/** Describes the change. A provider's name, as somebody typed it, is its only identifier. */
function changeOf(principal: Principal, action: string): SettingChange {
  const { orgId } = principal;
  return { orgId, by: principalKey(principal), area: "provider", action, subjectId: null };
}

function baseUrlAfter({ kind, baseUrl }: ProviderChange, before: ProviderRow | undefined): string {
  if (baseUrl !== undefined) return normalBaseUrl(baseUrl);
  const known = before?.kind === kind ? before.base_url : USUAL_BASE_URL[kind];
  if (known != null) return known;
  throw new Refusal(
    "invalid",
    "base_url_required",
    "A provider of this kind has no default address: send it as baseUrl, such as http://127.0.0.1:11434/v1.",
  );
}

function keptSecret(
  { kind }: ProviderChange,
  baseUrl: string,
  before: ProviderRow | undefined,
): string | null {
  const secret = before?.secret ?? null;
  if (secret !== null && before?.base_url !== baseUrl) {
    throw new Refusal(
      "conflict",
      "key_required",
      "The stored key belongs to another address and is not sent to a new one. Send the key together with the address.",
    );
  }
  if (secret === null && baseUrl === USUAL_BASE_URL[kind]) {
    throw new Refusal("invalid", "key_required", "This provider needs a key. Send it as apiKey.");
  }
  return secret;
}

/** Returns the list as it is stored; null: the provider's own list. */
export function modelsAfter(
  { models }: ProviderChange,
  before: ProviderRow | undefined,
): string | null {
  if (models === undefined) return before?.models ?? null;
  return models === null ? null : JSON.stringify([...new Set(models)]);
}

async function requireRoom(work: Work, orgId: string): Promise<void> {
  if ((await listProviders(work.tx, orgId)).length < MAX_PROVIDERS) return;
  throw new Refusal(
    "limit",
    "too_many_providers",
    `There are already ${MAX_PROVIDERS} providers. Remove one that is not used.`,
  );
}

function authorOf(principal: Principal): string {
  return principal.kind === "user" ? principal.userId : principal.name;
}

function announce({ tx, announcer }: Work, name: string): void {
  tx.afterCommit(() => announcer.hint("providers", "provider", name));
}

/** Adds, changes and removes repositories. */
import { notFound, Refusal } from "#base/refusal.ts";
import type { Sealer } from "#base/secrets/seal.ts";
import type { Reader } from "#base/store/index.ts";
import { type Principal, principalKey, type SettingChange, type Work } from "#engine/index.ts";
import { findRepeated, type IdempotentRequest } from "#engine/requests/index.ts";
import {
  type Address,
  githubWebUrl,
  isFullName,
  nameFromAddress,
  nameKey,
  parseAddress,
  requireFullName,
  requireSafeForCredential,
} from "./addresses.ts";
import type { NewRepo, RepoChange, RepoProvider } from "./contract.ts";
import { findRepo, findRepoByName, insertRepo, lockRepo, saveRepo } from "./queries.ts";
import type { RepoRow } from "./schema.ts";

/** Finds a persona that every member of the organisation may use, by id or slug. */
export type FindPersona = (
  reader: Reader,
  orgId: string,
  idOrSlug: string,
) => Promise<{ id: string; slug: string; name: string } | undefined>;

export interface RepoSettings {
  sealer: Sealer;
  githubApiUrl: string;
  findPersona: FindPersona;
}

/** A change whose persona may also be named by its id. */
export type RepoEdit = RepoChange & { personaId?: string | null | undefined };

export interface AddRepo {
  principal: Principal;
  id: string;
  request: NewRepo;
  idempotency: IdempotentRequest | undefined;
}

export async function addRepo(
  work: Work,
  { sealer, githubApiUrl, findPersona }: RepoSettings,
  { principal, id, request, idempotency }: AddRepo,
): Promise<RepoRow> {
  const { orgId } = principal;
  const { address, provider, fullName } = identify(request, githubApiUrl);
  const repeated = await findRepeated(work, principalKey(principal), idempotency, id);
  if (repeated !== undefined) {
    const row = await findRepo(work.tx, { orgId, id: repeated });
    if (row) return row;
    throw notFound("repository");
  }
  const blank: RepoRow = {
    ...BLANK,
    id,
    org_id: orgId,
    full_name: fullName,
    name_key: nameKey(fullName),
    provider,
    url: address.url,
    url_key: address.key,
    created_by: principal.kind === "user" ? principal.userId : principal.name,
    created_at: work.now,
    updated_at: work.now,
  };
  const persona = await personaColumns(work.tx, findPersona, orgId, request);
  const row = withSearch(changed(blank, request, sealer, persona));
  requireFit(row);
  if (!(await insertRepo(work.tx, row))) throw await nameTaken(work, row);
  await work.reportChange(changeOf(principal, id, "added"));
  announce(work, id);
  return row;
}

function changeOf(
  principal: Principal,
  id: string,
  action: string,
  detail?: string,
): SettingChange {
  const { orgId } = principal;
  const change = { orgId, by: principalKey(principal), area: "repo", action, subjectId: id };
  return detail === undefined ? change : { ...change, detail };
}

/** Names of settings in the audit trail. Settings of place and access come before descriptive ones. */
const TRAIL_NAMES: readonly (readonly [string, readonly (keyof RepoRow)[]])[] = [
  ["url", ["url", "url_key"]],
  ["credential", ["credential"]],
  ["branch", ["default_branch"]],
  ["setup", ["setup_command"]],
  ["persona", ["persona_id", "persona_slug"]],
  ["enabled", ["enabled"]],
  ["webhook", ["webhook_secret"]],
  ["about", ["description", "language", "topics"]],
];

/** All names together fit into one field of the trail, so none can hide another. */
function differences(before: RepoRow, after: RepoRow): string | undefined {
  const names = TRAIL_NAMES.filter(([, columns]) =>
    columns.some((column) => before[column] !== after[column]),
  ).map(([name]) => name);
  return names.length === 0 ? undefined : names.join("_");
}

export async function changeRepo(
  work: Work,
  { sealer, findPersona }: Pick<RepoSettings, "sealer" | "findPersona">,
  principal: Principal,
  key: { orgId: string; id: string },
  change: RepoEdit,
): Promise<RepoRow> {
  const before = await lockRepo(work.tx, key);
  if (!before) throw notFound("repository");
  const persona = await personaColumns(work.tx, findPersona, key.orgId, change);
  const row = withSearch({ ...changed(before, change, sealer, persona), updated_at: work.now });
  requireFit(row);
  await saveRepo(work.tx, row);
  await work.reportChange(changeOf(principal, row.id, "changed", differences(before, row)));
  announce(work, row.id);
  return row;
}

/** Removes a repository and its secrets. The row stays, so that a sync does not bring it back. */
export async function removeRepo(
  work: Work,
  principal: Principal,
  key: { orgId: string; id: string },
): Promise<RepoRow> {
  const before = await lockRepo(work.tx, key);
  if (!before) throw notFound("repository");
  const row = {
    ...before,
    webhook_secret: null,
    credential: null,
    archived_at: work.now,
    updated_at: work.now,
  };
  await saveRepo(work.tx, row);
  await work.reportChange(changeOf(principal, row.id, "removed"));
  announce(work, row.id);
  return row;
}

/** Fields that a webhook's secret is bound to; their order must never change. */
export function webhookBinding({ org_id, id }: Pick<RepoRow, "org_id" | "id">): readonly string[] {
  return [org_id, id, "webhook"];
}

/** Builds the search text, in lower case, which both databases compare alike. */
export function withSearch(row: RepoRow): RepoRow {
  const topics = JSON.parse(row.topics) as string[];
  const parts = [row.full_name, row.description ?? "", row.language ?? "", ...topics];
  return { ...row, search: parts.join("\n").toLowerCase() };
}

export const BLANK = {
  description: null,
  default_branch: null,
  language: null,
  topics: "[]",
  enabled: 1,
  webhook_secret: null,
  persona_id: null,
  persona_slug: null,
  setup_command: null,
  credential: null,
  set_here: "[]",
  search: "",
  sync_scope: null,
  synced_at: null,
  missing_at: null,
  archived_at: null,
} as const satisfies Partial<RepoRow>;

interface Identity {
  address: Address;
  provider: RepoProvider;
  fullName: string;
}

/** Completes a name or an address from the other. */
function identify({ fullName, url, provider }: NewRepo, githubApiUrl: string): Identity {
  const web = githubWebUrl(githubApiUrl);
  if (url === undefined) {
    if (fullName === undefined || provider === "git") {
      throw new Refusal(
        "invalid",
        "url_required",
        "Name the repository: send its address or path as url, or its fullName on GitHub.",
      );
    }
    requireFullName(fullName, "github");
    return { address: parseAddress(`${web}/${fullName}.git`), provider: "github", fullName };
  }
  const address = parseAddress(url);
  const isOnGithub = address.kind !== "path" && address.host === new URL(web).hostname;
  const name = fullName ?? nameFromAddress(address);
  const known = provider ?? (isOnGithub && isFullName(name, "github") ? "github" : "git");
  return { address, provider: known, fullName: requireFullName(name, known) };
}

/**
 * Fields that GitHub also provides. A sync leaves a field that a person has set; null returns it to the sync.
 */
const SYNCED_FIELDS = ["url", "description", "defaultBranch", "language", "topics"] as const;
export type SyncedField = (typeof SYNCED_FIELDS)[number];

function changed(
  row: RepoRow,
  change: RepoChange,
  sealer: Sealer,
  persona: PersonaColumns,
): RepoRow {
  const setHere = new Set(JSON.parse(row.set_here) as string[]);
  for (const field of SYNCED_FIELDS) {
    if (change[field] === null) setHere.delete(field);
    else if (change[field] !== undefined) setHere.add(field);
  }
  const address = change.url === undefined ? undefined : parseAddress(change.url);
  const valueAfter = <T>(value: T | undefined, before: T) => (value === undefined ? before : value);
  return {
    ...row,
    url: address?.url ?? row.url,
    url_key: address?.key ?? row.url_key,
    description: valueAfter(change.description, row.description) || null,
    default_branch: valueAfter(change.defaultBranch, row.default_branch),
    language: valueAfter(change.language, row.language) || null,
    topics: change.topics === undefined ? row.topics : JSON.stringify([...new Set(change.topics)]),
    enabled: change.enabled === undefined ? row.enabled : Number(change.enabled),
    ...persona,
    setup_command: valueAfter(change.setupCommand, row.setup_command) || null,
    credential: valueAfter(change.credential, row.credential),
    webhook_secret: webhookAfter(row, change, sealer),
    set_here: JSON.stringify([...setHere]),
  };
}

/** Empty when the change names no persona. */
type PersonaColumns = Partial<Pick<RepoRow, "persona_id" | "persona_slug">>;

/** Requires a shared persona, because everybody's sessions would get it. */
async function personaColumns(
  reader: Reader,
  findPersona: FindPersona,
  orgId: string,
  { personaSlug, personaId = personaSlug }: RepoEdit,
): Promise<PersonaColumns> {
  if (personaId === undefined) return {};
  if (personaId === null) return { persona_id: null, persona_slug: null };
  const found = await findPersona(reader, orgId, personaId);
  if (found) return { persona_id: found.id, persona_slug: found.slug };
  throw new Refusal(
    "invalid",
    "persona_unknown",
    `There is no shared persona ${personaId}. Check its slug, or share it first.`,
  );
}

function webhookAfter(row: RepoRow, { webhookSecret }: RepoChange, sealer: Sealer) {
  if (webhookSecret === undefined) return row.webhook_secret;
  return webhookSecret === null ? null : sealer.seal(webhookSecret, webhookBinding(row));
}

function requireFit({ url, credential }: RepoRow): void {
  if (credential !== null) requireSafeForCredential(parseAddress(url));
}

const SUGGESTIONS = 50;

async function nameTaken({ tx }: Work, { org_id, name_key, full_name }: RepoRow): Promise<Refusal> {
  const taken = await findRepoByName(tx, org_id, name_key);
  let free = "";
  for (let at = 2; at < SUGGESTIONS && free === ""; at++) {
    if (!(await findRepoByName(tx, org_id, `${name_key}-${at}`))) free = `${full_name}-${at}`;
  }
  return new Refusal(
    "conflict",
    "repo_exists",
    `The repository ${taken?.full_name ?? full_name} already exists${taken ? ` (${taken.id})` : ""}. Change that one, or use another name${free ? `, such as ${free}` : ""}.`,
  );
}

export function announce({ tx, announcer }: Work, id: string): void {
  tx.afterCommit(() => announcer.hint("repos", "repo", id));
}

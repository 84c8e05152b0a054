/**
 * Syncs the list of repositories with GitHub. Fields that people set here stay. A sync deletes nothing: it
 * marks a repository that GitHub no longer lists for the same scope.
 */
import { Refusal } from "#base/refusal.ts";
import { command, type Engine, type Work } from "#engine/index.ts";
import { isFullName, nameKey, parseAddress } from "./addresses.ts";
import { announce, BLANK, type SyncedField, withSearch } from "./change-repo.ts";
import type { RepoSync, RepoSyncResult } from "./contract.ts";
import { type FoundRepo, readGithub } from "./github.ts";
import { insertRepo, lockReposByName, markMissing, saveRepo } from "./queries.ts";
import type { RepoRow } from "./schema.ts";

const MAX_MS = 60_000;
const MAX_FOUND = 10_000;
const SKIPPED_SHOWN = 50;

export interface SyncOrder {
  orgId: string;
  /** The person who asked for the sync. */
  userId: string;
  request: RepoSync;
  apiUrl: string;
  token: string;
}

export async function syncRepos(engine: Engine, order: SyncOrder): Promise<RepoSyncResult> {
  const { orgId, request, apiUrl, token } = order;
  const { clock } = engine;
  const startedAt = clock.now();
  // The database's time, because it is compared with stored times.
  const begun = await command(engine, async (work) => {
    const by = `user:${order.userId}`;
    await work.reportChange({ orgId, by, area: "repos", action: "synced", subjectId: null });
    return work.now;
  });
  const result: RepoSyncResult = { ...NOTHING, skipped: [] };
  const question = { apiUrl, token, owner: request.owner, now: () => clock.now() };
  for await (const page of readGithub(question)) {
    if (page.kind === "limited") return stopAtLimit(result, page.until, clock.now());
    await keepPage(engine, order, page.repos, result);
    result.found += page.repos.length + page.unreadable;
    result.skippedCount += page.unreadable;
    if (!page.hasNext) break;
    if (page.until !== null) return stopAtLimit(result, page.until, clock.now());
    if (result.found >= MAX_FOUND) return { ...result, state: "stopped", stoppedBy: "size" };
    if (clock.now() - startedAt >= MAX_MS)
      return { ...result, state: "stopped", stoppedBy: "time" };
  }
  const scope = scopeOf(order);
  result.missing = await command(engine, async ({ tx, announcer, now }) => {
    const count = await markMissing(tx, orgId, scope, begun, now);
    if (count > 0) tx.afterCommit(() => announcer.hint("repos", "repos", orgId));
    return count;
  });
  return result;
}

const NOTHING = {
  state: "complete",
  stoppedBy: null,
  until: null,
  found: 0,
  added: 0,
  updated: 0,
  missing: 0,
  skippedCount: 0,
} as const;

/** Refuses a limit that comes before anything was read; a later one ends a partial sync. */
function stopAtLimit(result: RepoSyncResult, untilMs: number, now: number): RepoSyncResult {
  const until = new Date(untilMs).toISOString();
  if (result.found > 0) return { ...result, state: "stopped", stoppedBy: "rate_limit", until };
  throw new Refusal(
    "limit",
    "github_rate_limited",
    `GitHub accepts no more requests with this token until ${until}. Sync again then.`,
    { retryAfterMs: Math.max(1_000, untilMs - now) },
  );
}

/**
 * Identifies syncs that ask the same question; only such a sync can report a repository missing. The
 * credential's name alone is not enough: it may stand for different tokens of different people.
 */
function scopeOf({ userId, request: { owner, credential } }: SyncOrder): string {
  return owner === undefined ? `token:${userId}:${credential}` : `owner:${owner.toLowerCase()}`;
}

interface SyncCounts {
  added: number;
  updated: number;
  skipped: RepoSyncResult["skipped"];
}

async function keepPage(
  engine: Engine,
  order: SyncOrder,
  found: readonly FoundRepo[],
  result: RepoSyncResult,
): Promise<void> {
  const byName = new Map(found.map((repo) => [nameKey(repo.full_name), repo]));
  const ids = new Map([...byName.keys()].map((key) => [key, engine.ids.mint("rep")]));
  const kept = await command(engine, async (work) => {
    const rows = await lockReposByName(work.tx, order.orgId, [...byName.keys()]);
    const done: SyncCounts = { added: 0, updated: 0, skipped: [] };
    for (const [key, repo] of byName) {
      const known = rows.filter((row) => row.name_key === key);
      await keepOne(work, order, { repo, known, id: ids.get(key) as string }, done);
    }
    return done;
  });
  result.added += kept.added;
  result.updated += kept.updated;
  result.skippedCount += kept.skipped.length;
  result.skipped.push(...kept.skipped.slice(0, SKIPPED_SHOWN - result.skipped.length));
}

interface Candidate {
  repo: FoundRepo;
  /** Rows with this name: at most one is not removed. */
  known: readonly RepoRow[];
  id: string;
}

async function keepOne(
  work: Work,
  order: SyncOrder,
  { repo, known, id }: Candidate,
  done: SyncCounts,
): Promise<void> {
  const live = known.find((row) => row.archived_at === null);
  const reason = reasonToSkip(repo, live, known.length > 0);
  if (reason !== undefined) {
    done.skipped.push({ fullName: repo.full_name.slice(0, 200), reason });
    return;
  }
  const seen = { sync_scope: scopeOf(order), synced_at: work.now, missing_at: null };
  if (!live) {
    const row = withSearch({ ...merged(newRow(work, order, repo, id), repo), ...seen });
    if (!(await insertRepo(work.tx, row))) return;
    done.added += 1;
    announce(work, id);
    return;
  }
  const row = withSearch(merged(live, repo));
  const isChanged =
    live.missing_at !== null || CHANGING.some((column) => row[column] !== live[column]);
  await saveRepo(work.tx, {
    ...row,
    ...seen,
    updated_at: isChanged ? work.now : live.updated_at,
  });
  if (!isChanged) return;
  done.updated += 1;
  announce(work, live.id);
}

function reasonToSkip(
  repo: FoundRepo,
  live: RepoRow | undefined,
  isKnown: boolean,
): RepoSyncResult["skipped"][number]["reason"] | undefined {
  if (!isUsable(repo)) return "invalid";
  if (!live) return isKnown ? "removed" : undefined;
  return live.provider === "github" ? undefined : "other_provider";
}

/** Rejects a response that would bring in a path of this machine, or a password. */
function isUsable({ full_name, clone_url }: FoundRepo): boolean {
  if (!isFullName(full_name, "github")) return false;
  try {
    return parseAddress(clone_url).kind === "web";
  } catch (error) {
    if (error instanceof Refusal) return false;
    throw error;
  }
}

const CHANGING = [
  "full_name",
  "url",
  "description",
  "default_branch",
  "language",
  "topics",
] as const satisfies readonly (keyof RepoRow)[];

function merged(row: RepoRow, repo: FoundRepo): RepoRow {
  const setHere = new Set(JSON.parse(row.set_here) as SyncedField[]);
  const address = parseAddress(repo.clone_url);
  const unlessSaid = <T>(field: SyncedField, here: T, there: T) =>
    setHere.has(field) ? here : there;
  return {
    ...row,
    full_name: repo.full_name,
    url: unlessSaid("url", row.url, address.url),
    url_key: unlessSaid("url", row.url_key, address.key),
    description: unlessSaid("description", row.description, repo.description),
    default_branch: unlessSaid("defaultBranch", row.default_branch, repo.default_branch),
    language: unlessSaid("language", row.language, repo.language),
    topics: unlessSaid("topics", row.topics, JSON.stringify(repo.topics)),
  };
}

/** Builds the row of a new repository. One that is archived on GitHub starts disabled. */
function newRow({ now }: Work, { orgId, userId, request }: SyncOrder, repo: FoundRepo, id: string) {
  const row: RepoRow = {
    ...BLANK,
    id,
    org_id: orgId,
    full_name: repo.full_name,
    name_key: nameKey(repo.full_name),
    provider: "github",
    url: "",
    url_key: "",
    enabled: request.enabled && repo.archived !== true ? 1 : 0,
    created_by: userId,
    created_at: now,
    updated_at: now,
  };
  return row;
}

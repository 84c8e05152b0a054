/** Memories over HTTP, for their owner. */

import {
  command,
  type Engine,
  type Principal,
  principalKey,
  type Route,
  requireMay,
  serve,
} from "#engine/index.ts";
import { decodeCursor, pageOf } from "#engine/requests/index.ts";
import { requireUser } from "#features/policy/index.ts";
import type { Page } from "#protocol/page.ts";
import {
  MEMORY_KINDS,
  type Memory,
  type MemoryKind,
  type MemoryListQuery,
  memoryApi,
  type WriteResult,
} from "./contract.ts";
import {
  findMemory,
  findScope,
  listMemories,
  listScopes,
  lockScope,
  type MemoryScopeKey,
  type Owner,
} from "./queries.ts";
import { markFoundRead, queryTerms, type Ranked, searchMemories } from "./ranking/search.ts";
import { recordMemoryAction } from "./record-action.ts";
import type { MemoryScopeRow } from "./schema.ts";
import { repoKey, scopesOf } from "./scope.ts";
import { historyOf, memoryView, scopeView } from "./view.ts";
import { editMemory, forgetMemory, noMemory } from "./writing/edit-memory.ts";
import { prune } from "./writing/prune.ts";
import { exportScope, importFiles } from "./writing/transfer.ts";
import { type Draft, writeMemory } from "./writing/write-memory.ts";

const NEWEST = "memories";
const RANKED = "memories:found";

/** Fixed path segments come before parameters. */
export const memoryRoutes: readonly Route[] = [
  serve(memoryApi.list, async ({ engine, principal, query }) => {
    const owner = ownerOf(principal, "memory.read");
    return listPage(engine, owner, "orchestrator", query);
  }),
  serve(memoryApi.create, ({ engine, principal, body }) =>
    write(engine, principal, { kind: "orchestrator", repo: "" }, body),
  ),
  serve(memoryApi.listSession, async ({ engine, principal, query: { repo, ...query } }) => {
    const owner = ownerOf(principal, "memory.read");
    return listPage(engine, owner, "session", query, repo);
  }),
  serve(memoryApi.createSession, ({ engine, principal, body: { repo, ...draft } }) =>
    write(engine, principal, { kind: "session", repo: repoKey(repo) }, draft),
  ),
  serve(memoryApi.scopes, async ({ engine, principal }) => {
    const owner = ownerOf(principal, "memory.read");
    const scopes = await engine.store.read(async (reader) =>
      Promise.all(MEMORY_KINDS.map((kind) => listScopes(reader, owner, kind))),
    );
    return { items: scopes.flat().map(scopeView) };
  }),
  serve(memoryApi.prune, async ({ engine, principal, body }) => {
    const owner = ownerOf(principal, "memory.write");
    return command(engine, async (work) => {
      const found = await findScope(work.tx, { ...owner, kind: "orchestrator", repo: "" });
      const scope = found && (await lockScope(work.tx, found.id));
      const { rows, more } = scope ? await prune(work, scope, body) : { rows: [], more: false };
      const by = principalKey(principal);
      if (scope && !body.dryRun)
        for (const { id } of rows)
          await recordMemoryAction(work, scope, { by, action: "pruned", id });
      const pruned = rows.map((row) => memoryView(row, work.now));
      return { pruned, more, dryRun: body.dryRun };
    });
  }),
  serve(memoryApi.export, async ({ engine, principal, query }) => {
    const key = keyOf(ownerOf(principal, "memory.read"), query.repo);
    return { files: await engine.store.read((reader) => exportScope(reader, key)) };
  }),
  serve(memoryApi.import, async ({ engine, principal, body }) => {
    const key = keyOf(ownerOf(principal, "memory.write"), body.repo);
    const writer = { by: principalKey(principal), source: null };
    return command(engine, (work) => importFiles(work, key, body, writer));
  }),
  serve(memoryApi.get, async ({ engine, principal, params }) => {
    const owner = ownerOf(principal, "memory.read");
    const row = await engine.store.read((reader) => findMemory(reader, owner, params.id));
    if (!row) throw noMemory();
    return { memory: memoryView(row, engine.clock.now()), history: historyOf(row) };
  }),
  serve(memoryApi.update, async ({ engine, principal, params, body }) => {
    const owner = ownerOf(principal, "memory.write");
    const by = principalKey(principal);
    const row = await command(engine, (work) => editMemory(work, owner, params.id, body, by));
    return { memory: memoryView(row, engine.clock.now()) };
  }),
  serve(memoryApi.delete, async ({ engine, principal, params }) => {
    const owner = ownerOf(principal, "memory.write");
    const by = principalKey(principal);
    const row = await command(engine, (work) => forgetMemory(work, owner, params.id, by));
    return { memory: memoryView(row, engine.clock.now()) };
  }),
];

/** Returns the owner of the memories: each person has only their own. */
function ownerOf(principal: Principal, action: "memory.read" | "memory.write"): Owner {
  requireMay(principal, action);
  const { orgId, userId } = requireUser(principal);
  return { orgId, userId };
}

function keyOf(owner: Owner, repo: string | undefined): MemoryScopeKey {
  return repo === undefined
    ? { ...owner, kind: "orchestrator", repo: "" }
    : { ...owner, kind: "session", repo: repoKey(repo) };
}

async function write(
  engine: Engine,
  principal: Principal,
  scope: Pick<MemoryScopeKey, "kind" | "repo">,
  { title = null, ...said }: Omit<Draft, "title"> & { title?: string | null | undefined },
): Promise<WriteResult> {
  const owner = ownerOf(principal, "memory.write");
  const writer = { by: principalKey(principal), source: null };
  const { row, replaced, pruned } = await command(engine, (work) =>
    writeMemory(work, { ...owner, ...scope }, { ...said, title }, writer),
  );
  const now = engine.clock.now();
  return {
    memory: memoryView(row, now),
    replaced,
    pruned: pruned.map((gone) => memoryView(gone, now)),
  };
}

async function listPage(
  engine: Engine,
  owner: Owner,
  kind: MemoryKind,
  { query = "", counted, cursor, limit, ...filter }: MemoryListQuery,
  repo?: string,
): Promise<Page<Memory>> {
  const now = engine.clock.now();
  const scopes = await engine.store.read((reader) => scopesOf(reader, owner, kind, repo));
  const terms = queryTerms(query);
  if (terms.length > 0)
    return foundPage(engine, scopes, terms, { ...filter, counted, limit, cursor });
  const after = decodeCursor(NEWEST, cursor);
  const only = repo === undefined ? undefined : scopes.map(({ id }) => id);
  if (only?.length === 0) return { items: [], next: null };
  const rows = await engine.store.read((reader) =>
    listMemories(reader, { ...owner, kind, ...filter, scopes: only, after, limit: limit + 1 }),
  );
  const position = ({ updated_at: at, id }: { updated_at: number; id: string }) => ({ at, id });
  return pageOf(NEWEST, rows, limit, position, (row) => memoryView(row, now));
}

/**
 * Reads a page of search results.
 * The shown rows count as read; the extra row that only shows a next page does not.
 */
async function foundPage(
  engine: Engine,
  scopes: readonly MemoryScopeRow[],
  terms: readonly string[],
  { limit, cursor, counted, ...filter }: Omit<MemoryListQuery, "query">,
): Promise<Page<Memory>> {
  const position = decodeCursor(RANKED, cursor, { isFraction: true });
  const after = position && { score: position.at, id: position.id };
  const found = await engine.store.read((reader) =>
    searchMemories(reader, scopes, terms, { ...filter, after, limit: limit + 1 }),
  );
  const shown = found.slice(0, limit).map(({ row }) => row);
  const isRead = counted && shown.length > 0;
  const read = isRead ? await command(engine, (work) => markFoundRead(work, shown)) : [];
  const now = engine.clock.now();
  const byId = new Map(read.map((row) => [row.id, row]));
  const positionOf = ({ row, score }: Ranked) => ({ at: score, id: row.id });
  return pageOf(RANKED, found, limit, positionOf, ({ row }) =>
    memoryView(byId.get(row.id) ?? row, now),
  );
}

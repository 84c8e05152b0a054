/**
 * Searching memories, in a process of its own: 200 of an orchestrator, and 50,000 that sessions
 * have of 50 repositories. Prints one JSON object, in milliseconds.
 *
 *   node memory-load.ts FOLDER
 */
import { command } from "#engine/index.ts";
import { memory } from "#features/memory/index.ts";
import { listScopes, lockOrCreateScope, type MemoryScopeKey } from "#features/memory/queries.ts";
import { queryTerms, searchMemories } from "#features/memory/ranking/search.ts";
import { termsOfText } from "#features/memory/ranking/topic.ts";
import { addMemory } from "#features/memory/writing/write-memory.ts";
import { percentile } from "./figure.ts";
import { openKernel } from "./own-kernel.ts";

const REPOSITORIES = 50;
const IN_EACH = 1_000;
const OF_ORCHESTRATOR = 200;
const SEARCHES = 300;
const VOCABULARY = 20_000;
const IN_ONE_COMMIT = 250;

const [folder = "."] = process.argv.slice(2);
const {
  store,
  kernel: { engine },
} = await openKernel(folder, [memory]);

let state = 1;
/** Pseudo-random numbers, the same in each run. */
function roll(): number {
  state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
  return state / 2_147_483_648;
}
/** Few words are common and many are rare, as in any language. */
const words = (count: number) =>
  Array.from({ length: count }, () => `w${Math.floor(VOCABULARY ** roll())}`).join(" ");

const owner = { orgId: "org_1", userId: "usr_1" };
const writer = { by: "user:usr_1", source: null };

async function fill(key: MemoryScopeKey, count: number): Promise<void> {
  for (let done = 0; done < count; done += IN_ONE_COMMIT)
    await command(engine, async (work) => {
      const scope = await lockOrCreateScope(work.tx, key, work.ids.mint("shf"));
      for (let n = 0; n < Math.min(IN_ONE_COMMIT, count - done); n++) {
        const draft = { content: words(15 + roll() * 30), category: "general", title: null };
        await addMemory(work, scope, { draft, words: termsOfText(draft), writer });
      }
    });
}

async function search(kind: MemoryScopeKey["kind"]): Promise<{ p50Ms: number; p95Ms: number }> {
  const scopes = await store.read((reader) => listScopes(reader, owner, kind));
  const times: number[] = [];
  for (let n = 0; n < SEARCHES; n++) {
    const terms = queryTerms(words(1 + (n % 6)));
    const startedAt = performance.now();
    await store.read((reader) => searchMemories(reader, scopes, terms, { limit: 10 }));
    times.push(performance.now() - startedAt);
  }
  return { p50Ms: percentile(times, 50), p95Ms: percentile(times, 95) };
}

await fill({ ...owner, kind: "orchestrator", repo: "" }, OF_ORCHESTRATOR);
for (let n = 0; n < REPOSITORIES; n++)
  await fill({ ...owner, kind: "session", repo: `example.org/team/r${n}` }, IN_EACH);
const own = await search("orchestrator");
const sessions = await search("session");
process.stdout.write(`${JSON.stringify({ own, sessions })}\n`);
await store.close();
process.exit(0);

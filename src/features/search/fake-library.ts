/** Test fixture: people with things of every kind, on the real kernel, indexed when the test asks for it. */
import type { Principal, Sweep } from "#engine/index.ts";
import { authMigrations, insertUser } from "#features/auth/index.ts";
import { createDelegation } from "#features/delegation/index.ts";
import { createMailbox } from "#features/mailbox/index.ts";
import { memory } from "#features/memory/index.ts";
import { createOrchestrators } from "#features/orchestrators/index.ts";
import { createPersonas } from "#features/personas/index.ts";
import { createRepos } from "#features/repos/index.ts";
import { createSecrets } from "#features/secrets/index.ts";
import { tasks } from "#features/tasks/index.ts";
import { member, owner, startWorld, type User, type World } from "#features/testing/index.ts";
import type { SearchItem } from "./contract.ts";
import { createSearch } from "./index.ts";

const SECRET_KEY = "a-secret-key-of-more-than-32-characters";
const ROUNDS = 100;

export interface Found {
  items: SearchItem[];
  next: string | null;
}

/** All features with searchable things, and search itself. */
export function libraryFeatures() {
  const secrets = createSecrets({ secretKey: SECRET_KEY });
  const repos = createRepos({
    secretKey: SECRET_KEY,
    secrets,
    findPersona: async () => undefined,
  });
  const list = [
    { name: "auth", migrations: authMigrations },
    createDelegation(),
    createOrchestrators(),
    tasks,
    createMailbox(),
    memory,
    secrets.feature,
    createPersonas({ searchPath: "" }),
    repos.feature,
  ];
  const search = createSearch(list);
  return { features: [...list, search], sweep: search.sweeps?.[0] as Sweep };
}

export class FakeLibrary {
  readonly world: World;
  readonly #sweep: Sweep;
  #people = 0;
  #rounds = 0;

  constructor(world: World, sweep: Sweep) {
    this.world = world;
    this.#sweep = sweep;
  }

  /** Opens a library. `isOld`: the database as it was before search existed. */
  static async open(url: string | undefined, isOld = false): Promise<FakeLibrary> {
    const { features, sweep } = libraryFeatures();
    const some = isOld ? features.slice(0, -1) : features;
    const library = new FakeLibrary(await startWorld(some, url), sweep);
    const org = "insert into orgs (id, name, slug, created_at) values ('org_1', 'Crew', 'crew', 1)";
    await library.execute(`${org} on conflict do nothing`);
    return library;
  }

  execute(sql: string): Promise<number> {
    const { store } = this.world.kernel.engine;
    return store.transaction((tx) => tx.execute({ sql, parameters: [] }));
  }

  rows(sql: string): Promise<Record<string, unknown>[]> {
    const { store } = this.world.kernel.engine;
    return store.read((reader) => reader.query({ sql, parameters: [] }));
  }

  async person(name: string): Promise<User> {
    const userId = `usr_${name.toLowerCase()}${++this.#people}`;
    const who: User = { ...member, userId, name };
    await this.world.kernel.engine.store.transaction((tx) =>
      insertUser(tx, {
        id: userId,
        org_id: who.orgId,
        name,
        email: null,
        role: "member",
        timezone: "UTC",
        locale: "en",
        created_at: 1,
      }),
    );
    return who;
  }

  /** Indexes until nothing is left. */
  async index(): Promise<void> {
    const { engine } = this.world.kernel;
    for (let round = 0; round < ROUNDS; round++) {
      // Each round comes a minute later, so that it looks through all sessions.
      await this.#sweep.run(engine, engine.clock.now() + ++this.#rounds * 60_000);
      const [left] = await this.rows(
        `select (select count(*) from search_changes) + (select count(*) from sessions s left join
          search_cursors c on c.session_id = s.id where s.owner_id is not null
          and coalesce(c.seq, 0) <> s.last_seq) as n`,
      );
      if (Number(left?.n) === 0) return;
    }
    throw new Error("it is never done");
  }

  /** Runs one round of the indexer, which looks through all sessions only once a minute. */
  round(lateMs = 0): Promise<void> {
    const { engine } = this.world.kernel;
    return this.#sweep.run(engine, engine.clock.now() + this.#rounds * 60_000 + lateMs);
  }

  /** Searches without indexing first. */
  ask(who: Principal, q: string, query: Record<string, string> = {}): Promise<Found> {
    const text = new URLSearchParams({ q, ...query }).toString();
    return this.world.call<Found>(who, "GET", `/api/search?${text}`);
  }

  /** Reads all pages. */
  async allPages(who: Principal, q: string, query: Record<string, string>): Promise<SearchItem[]> {
    const { items, next } = await this.ask(who, q, query);
    if (next === null) return items;
    return [...items, ...(await this.allPages(who, q, { ...query, cursor: next }))];
  }

  async find(who: Principal, q: string, query: Record<string, string> = {}): Promise<Found> {
    await this.index();
    return this.ask(who, q, query);
  }

  async memory(who: User, content: string): Promise<string> {
    const path = "/api/me/memories";
    const body = { content, category: "general" };
    const written = await this.world.call<{ memory: { id: string } }>(who, "POST", path, body);
    return written.memory.id;
  }

  async task(who: User, session: string, title: string, description?: string): Promise<string> {
    const path = `/api/sessions/${session}/tasks`;
    const body = { title, ...(description === undefined ? {} : { description }) };
    const { task } = await this.world.call<{ task: { id: string } }>(who, "POST", path, body);
    return task.id;
  }

  async titleOf(taskId: string): Promise<unknown> {
    return (await this.rows(`select title from tasks where id = '${taskId}'`))[0]?.title;
  }

  /** Creates seven things with this word in them. The message is to somebody else. */
  async oneOfEach(who: User, word: string, to: User): Promise<{ session: string }> {
    const session = await this.world.createSession({ title: `About the ${word}` }, who);
    const turn = await this.world.startTurn(session, `Tell me of the ${word}.`, who);
    await turn.end("done");
    await this.task(who, session, "Feed it", `The ${word} is hungry`);
    await this.memory(who, `A ${word} was seen in the yard`);
    await this.world.call(who, "POST", "/api/messages", {
      to: to.userId,
      content: `Have you seen the ${word}?`,
    });
    await this.world.call(who, "POST", "/api/orgs/org_1/personas", {
      name: `${word} keeper`,
      visibility: "private",
    });
    await this.world.call(owner, "POST", "/api/orgs/org_1/repos", { fullName: `acme/${word}` });
    return { session };
  }

  async sharePersona(who: User, word: string): Promise<void> {
    const path = `/api/orgs/org_1/personas/${word}-keeper`;
    await this.world.call(who, "PUT", path, { visibility: "shared" });
  }

  /** Writes `count` replies with this word. */
  async chatter(session: string, who: User, word: string, count: number): Promise<void> {
    const turn = await this.world.startTurn(session, `${word}?`, who);
    await turn.journal(
      Array.from({ length: count }, (_, n) => ({
        type: "message" as const,
        entryId: `said_${n}`,
        kind: "text" as const,
        text: `${word} ${n}`,
      })),
    );
    await turn.end("done");
    await this.index();
  }

  /** Counts the documents of a thing, or of a session's transcript. */
  async documents(kind: string, ref: string): Promise<number> {
    const [row] = await this.rows(
      `select count(*) as n from search_documents where kind = '${kind}' and (ref = '${ref}' or ref like '${ref}:%')`,
    );
    return Number(row?.n);
  }
}

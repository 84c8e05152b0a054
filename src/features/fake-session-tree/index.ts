/** Test support: parents and children on the real kernel, with each turn controlled by the test. */
import { command, type SessionWriter, type Work } from "#engine/index.ts";
import { readyBacklog } from "#engine/runs/index.ts";
import {
  createSession,
  endSession,
  findSession,
  newSession,
  revive,
} from "#engine/sessions/index.ts";
import {
  type InboxItem,
  readInbox,
  type SpawnRequest,
  spawnChild,
} from "#features/delegation/index.ts";
import { asks, owner, type Turn, type World } from "#features/testing/index.ts";
import type { Settlement } from "#protocol/events.ts";
import type { Prompt } from "#protocol/sessions.ts";

export class FakeSessionTree {
  readonly world: World;
  readonly #turns: Turn[] = [];
  readonly #open = new Set<Turn>();
  readonly #roots = new Set<string>();
  #arrived = () => {};

  constructor(world: World) {
    this.world = world;
    void this.#collect();
  }

  async #collect(): Promise<never> {
    for (;;) {
      this.#turns.push(await this.world.nextTurn());
      this.#arrived();
    }
  }

  /** Waits for the next turn of a session on a runner. */
  async turnOf(sessionId: string): Promise<Turn> {
    for (;;) {
      const at = this.#turns.findIndex(({ assignment }) => assignment.sessionId === sessionId);
      if (at >= 0) {
        const turn = this.#turns.splice(at, 1)[0] as Turn;
        this.#open.add(turn);
        return turn;
      }
      await new Promise<void>((resolve) => {
        this.#arrived = resolve;
      });
    }
  }

  /** Waits until no more turns are about to be assigned; returns those that runners got. */
  async arrived(): Promise<Turn[]> {
    const { store, clock } = this.world.kernel.engine;
    const isPending = () =>
      store.read(async (reader) => (await readyBacklog(reader, clock.now())).n);
    do await new Promise((resolve) => setImmediate(resolve));
    while (Number(await isPending()) > 0);
    const turns = this.#turns.splice(0);
    for (const turn of turns) this.#open.add(turn);
    return turns;
  }

  act<T>(sessionId: string, act: (work: Work, session: SessionWriter) => Promise<T>): Promise<T> {
    return command(this.world.kernel.engine, async (work) => {
      const session = await work.session(sessionId);
      if (!session) throw new Error(`no session ${sessionId}`);
      return act(work, session);
    });
  }

  /** Creates an orchestrator, whose threads run side by side. */
  async parent({ budget }: { budget?: number } = {}): Promise<string> {
    const { engine } = this.world.kernel;
    const id = engine.ids.mint("ses");
    this.#roots.add(id);
    await command(engine, async (work) => {
      const asked = await newSession(work, owner, id, { title: "lead", budget }, work.defaults);
      await createSession(work, { ...asked, kind: "orchestrator" });
    });
    return id;
  }

  spawn(
    parentId: string,
    { thread = "main", ...request }: Partial<SpawnRequest> & { thread?: string } = {},
  ) {
    return this.act(parentId, async (work, parent) => {
      const wish = { prompt: "count the files", title: "counter", ...request };
      return (await spawnChild(work, parent, thread, wish)).child.row.id;
    });
  }

  /** Creates a parent, its child, and the child's first turn. */
  async createParentAndChild(): Promise<{ parentId: string; childId: string; turn: Turn }> {
    const parentId = await this.parent();
    const childId = await this.spawn(parentId);
    return { parentId, childId, turn: await this.turnOf(childId) };
  }

  async prompt(sessionId: string, content = "go", thread = "main"): Promise<Turn> {
    await this.sendPrompt(sessionId, content, thread);
    return this.turnOf(sessionId);
  }

  /** Gives the turn a guest's rights from here on. */
  markGuest({ assignment }: Turn): Promise<number> {
    const sql = `update prompts set is_guest = 1 where id = '${assignment.promptId}'`;
    return this.world.kernel.engine.store.transaction((tx) => tx.execute({ sql, parameters: [] }));
  }

  sendPrompt(
    sessionId: string,
    content = "go",
    thread = "main",
    mode: "followup" | "steer" = "followup",
  ) {
    const request = { content, mode, thread, attachments: [] };
    return this.world.kernel.prompts.admit(owner, sessionId, request);
  }

  async settle(turn: Turn, settle: Settlement): Promise<void> {
    this.#open.delete(turn);
    await turn.journal([], { settle });
  }

  /** Asks a question and waits for the answer. */
  async ask(turn: Turn, question: string): Promise<void> {
    this.#open.delete(turn);
    const call = asks("q1", "ask_user_question", { questions: [{ question }] });
    await turn.journal([call], { park: { kind: "gate", callId: "q1" } });
  }

  /** Presents a plan and waits for the decision. */
  async present(turn: Turn, plan: string, callId = "p1"): Promise<void> {
    this.#open.delete(turn);
    const call = asks(callId, "request_plan_approval", { plan });
    await turn.journal([call], { park: { kind: "gate", callId } });
  }

  session(id: string) {
    return this.world.kernel.sessions.get(owner, id);
  }

  row(id: string) {
    return this.world.kernel.engine.store.read((reader) => findSession(reader, id));
  }

  inbox(parentId: string): Promise<InboxItem[]> {
    return this.world.kernel.engine.store.read((reader) => readInbox(reader, parentId));
  }

  /** Lists the prompts that were to wake a session and were not withdrawn, oldest first. */
  async wakes(sessionId: string): Promise<Prompt[]> {
    const { items } = await this.world.kernel.prompts.list(owner, sessionId, {
      limit: 200,
    } as never);
    const wakes = items.filter(({ notice }) => notice?.kind === "children");
    return wakes.filter(({ startedAt, state }) => startedAt !== null || state === "queued");
  }

  terminateAlone(id: string): Promise<void> {
    return this.act(id, (work, session) =>
      endSession(work, session, { to: "terminated", force: true }),
    );
  }

  revive(id: string): Promise<void> {
    return this.act(id, revive);
  }

  /** Ends everything, so that slots and limits are free for the next test. */
  async end(): Promise<void> {
    for (const id of this.#roots) await this.world.kernel.sessions.terminate(owner, id);
    this.#roots.clear();
    for (const turn of [...this.#open, ...this.#turns.splice(0)])
      await turn.journal([], { settle: { outcome: "aborted" } }).catch(() => {});
    this.#open.clear();
  }
}

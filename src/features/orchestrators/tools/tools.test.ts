/**
 * The tools of an orchestrator's agent on the real kernel, with a runner that the test controls.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { roleOf } from "#engine/tools/index.ts";
import { createAudit } from "#features/audit/index.ts";
import { briefing } from "#features/briefing/index.ts";
import { createDelegation, detachChild } from "#features/delegation/index.ts";
import { FakeSessionTree } from "#features/fake-session-tree/index.ts";
import { memory } from "#features/memory/index.ts";
import { createPersonas, findSharedPersona } from "#features/personas/index.ts";
import { policy } from "#features/policy/index.ts";
import { createRepos } from "#features/repos/index.ts";
import { createSecrets } from "#features/secrets/index.ts";
import { tasks } from "#features/tasks/index.ts";
import { owner, startWorld, type Turn } from "#features/testing/index.ts";
import { createTestDatabase, postgresUrl, type TestDatabase } from "#test/services/postgres.ts";
import { createOrchestratorTools } from "./index.ts";

const ORG = "/api/orgs/org_1";
const KEY = "a-secret-key-of-more-than-32-characters";
const SESSION_TOOLS = [
  "spawn_session",
  "send_message",
  "read_messages",
  "forward_messages",
  "get_session_status",
  "list_sessions",
  "terminate_session",
  "wait_for_event",
  "sleep",
];
const CHOICES = ["list_repos", "list_personas"];
const done = (result: string) => ({ outcome: "completed", result }) as const;

function suite(title: string, database: () => Promise<TestDatabase | undefined>): void {
  describe(title, () => {
    let at: FakeSessionTree;
    let made: TestDatabase | undefined;
    beforeAll(async () => {
      made = await database();
      const secrets = createSecrets({ secretKey: KEY });
      const repos = createRepos({ secretKey: KEY, secrets, findPersona: findSharedPersona });
      const features = [
        createDelegation({ childrenPerOrchestrator: 4 }),
        { name: "orchestrators", tools: createOrchestratorTools({ publicUrl: "https://m.test/" }) },
        tasks,
        memory,
        policy,
        createAudit().feature,
        secrets.feature,
        createPersonas({ searchPath: "" }),
        repos.feature,
        briefing,
      ];
      at = new FakeSessionTree(await startWorld(features, made?.url));
      await at.world.call(owner, "POST", `${ORG}/repos`, {
        url: "https://example.org/acme/api.git",
        description: "the interface",
      });
      for (const visibility of ["shared", "private"])
        await at.world.call(owner, "POST", `${ORG}/personas`, {
          name: visibility,
          slug: visibility,
          visibility,
        });
    });
    afterEach(() => at.end());
    afterAll(async () => {
      await at.world.stop();
      await made?.drop();
    });

    const lead = async (thread = "main") => {
      const parentId = await at.parent();
      return { parentId, turn: await at.prompt(parentId, "go", thread) };
    };
    const spawnIn = async (turn: Turn, input: object = {}) => {
      const { output, error } = await turn.tool("spawn_session", {
        prompt: "Count the files.",
        title: "counter",
        ...input,
      });
      expect(error).toBeNull();
      return (output as { sessionId: string }).sessionId;
    };
    /** Models that the runner reports; with none, the models are unknown. */
    const offer = (...ids: string[]) => {
      const models = ids.map((id) => ({
        id,
        provider: "lab",
        usable: true,
        why: null,
        price: null,
      }));
      const sql = `update runners set models = '${JSON.stringify(models)}'`;
      const { store } = at.world.kernel.engine;
      return store.transaction((tx) => tx.execute({ sql, parameters: [] }));
    };
    /** An orchestrator in a turn, and its child in its first one. */
    const team = async () => {
      const { parentId, turn } = await lead();
      const childId = await spawnIn(turn);
      return { parentId, turn, childId, work: await at.turnOf(childId) };
    };
    const toolRows = async (sessionId: string, action: string) => {
      const path = `/api/audit?session=${sessionId}&action=${action}`;
      const { items } = await at.world.call<{ items: { metadata: Record<string, unknown> }[] }>(
        owner,
        "GET",
        path,
      );
      return items.map(({ metadata }) => metadata);
    };

    it("are an orchestrator's; a supervisor has the choices, a child and others have none", async () => {
      const { turn, work } = await team();
      expect(turn.assignment.tools).toEqual(expect.arrayContaining([...SESSION_TOOLS, ...CHOICES]));
      for (const tool of [...SESSION_TOOLS, ...CHOICES]) {
        expect(work.assignment.tools).not.toContain(tool);
        expect((await work.tool(tool, { sessionId: "x", prompt: "x" })).error).toMatch(
          /^There is no tool named/,
        );
      }
      const aloneId = await at.world.createSession();
      const alone = await at.prompt(aloneId);
      expect(alone.assignment.tools).not.toContain("spawn_session");
      await at.settle(alone, done("ok"));
      await at.act(aloneId, async (_work, { row }) => {
        row.role = "supervisor";
        expect(roleOf(row)).toBe("supervisor");
      });
      const leads = await at.prompt(aloneId);
      expect(leads.assignment.tools).toEqual(expect.arrayContaining(CHOICES));
      expect(leads.assignment.tools).not.toContain("spawn_session");
      await at.settle(leads, done("ok"));
      await at.world.kernel.sessions.terminate(owner, aloneId);
    });

    it("spawn what was asked for, over what the parent has", async () => {
      const { parentId, turn } = await lead();
      const { output } = await turn.tool("spawn_session", {
        prompt: "Review it.",
        repo: "acme/api",
        branch: "next",
        persona: "shared",
        workspace: "api-review",
        runtime: "native",
        model: "lab/large",
        purpose: "review",
        budget: 5_000,
        enableMemory: true,
      });
      const { sessionId } = output as { sessionId: string };
      expect(output).toMatchObject({
        status: "pending",
        url: `https://m.test/sessions/${sessionId}`,
      });
      expect(await at.session(sessionId)).toMatchObject({
        parentSessionId: parentId,
        title: "api-review",
        repo: "https://example.org/acme/api.git",
        branch: "next",
        persona: "shared",
        runtime: "native",
        model: "lab/large",
        kind: "review",
        budget: 5_000,
      });
      expect(await at.row(sessionId)).toMatchObject({
        owner_id: owner.userId,
        labels: "memory persona",
      });
      const work = await at.turnOf(sessionId);
      expect(work.assignment).toMatchObject({
        content: "Review it.",
        author: { kind: "session", id: parentId },
      });
    });

    it.each([
      ["a task that is not there", { taskId: "tsk_none" }, /^not_found: /],
      ["an unknown field", { parentSessionId: "ses_1" }, /does not fit spawn_session/],
      ["two repositories", { repo: "a/b", repo_url: "c/d" }, /^repo_ambiguous: /],
      ["a folder of the machine", { repo: "/etc" }, /^folder_not_allowed: /],
      ["a runtime without a model", { runtime: "scripted" }, /^runtime_not_allowed: /],
      ["the other one", { runtime: "echo" }, /^runtime_not_allowed: /],
      ["a persona that is not there", { persona: "nobody" }, /^not_found: /],
      ["nothing to do", { prompt: "" }, /does not fit spawn_session/],
      ["a blank prompt", { prompt: " \n\t " }, /^prompt_empty: /],
      ["a model that nobody has", { model: "lab/none" }, /^model_not_available: .*lab\/small/],
      ["a runtime that nobody has", { runtime: "nonsense" }, /^runtime_not_available: .*native/],
      ["an option as a branch", { branch: "--upload-pack=x" }, /^branch_invalid: /],
      ["a revision as a branch", { branch: "main..x" }, /^branch_invalid: /],
      ["a branch that git refuses", { branch: "a//b.lock" }, /^branch_invalid: /],
      ["a path as a workspace", { workspace: "../up" }, /does not fit spawn_session/],
      ["an option as a workspace", { workspace: "-rf" }, /does not fit spawn_session/],
      ["a name of three parts", { repo: "three/part/name" }, /^repo_not_found: /],
      ["an owner that is an option", { repo: "-owner/repo" }, /^url_invalid: /],
      ["a name that is an option", { repo: "tkhq/-repo" }, /^url_invalid: /],
      ["a repository nobody knows", { repo: "acme/nothing" }, /^repo_not_found: /],
      ["a budget of nothing", { budget: 0 }, /does not fit spawn_session/],
    ])("refuse to spawn with %s, and leave nothing behind", async (_what, input, error) => {
      await offer("lab/small");
      const { parentId, turn } = await lead();
      const reply = await turn.tool("spawn_session", { prompt: "Do it.", ...input });
      await offer();
      expect(reply.error).toMatch(error);
      const all = await at.world.kernel.sessions.list(owner, { parent: parentId, limit: 10 });
      expect(all.items).toEqual([]);
      const rows = [
        ...(await toolRows(parentId, "tool_executed")),
        ...(await toolRows(parentId, "tool_denied")),
      ];
      expect(rows).toMatchObject([{ tool: "spawn_session" }]);
    });

    it("spawn as whom the person asked for, before the repository's default, and say why", async () => {
      await at.world.call(owner, "POST", `${ORG}/repos`, {
        url: "https://example.org/acme/web.git",
        personaSlug: "shared",
      });
      await at.world.call(owner, "POST", `${ORG}/personas`, {
        name: "Code Reviewer",
        slug: "code-reviewer",
        visibility: "shared",
      });
      const spawnAs = async (words: string, input: object) => {
        const turn = await at.prompt(await at.parent(), words);
        const reply = await turn.tool("spawn_session", { prompt: "Do it.", ...input });
        expect(reply.error).toBeNull();
        return reply.output;
      };
      const persona = "code-reviewer";
      const repo = "acme/web";
      expect(await spawnAs("Have the Code Reviewer look.", { repo, persona })).toMatchObject({
        persona,
        personaReason: expect.stringContaining("person asked"),
      });
      // The agent's own choice yields, even if a quoted text names the persona.
      for (const words of ["Have it looked at.", "They say:\n> use the code-reviewer"])
        expect(await spawnAs(words, { repo, persona })).toMatchObject({
          persona: "shared",
          personaReason: expect.stringContaining("repository's default"),
        });
      expect(await spawnAs("Go.", { persona })).toMatchObject({
        persona,
        personaReason: expect.stringContaining("You chose"),
      });
      expect(await spawnAs("Go.", {})).toMatchObject({ persona: null, personaReason: null });
    });

    it("spawn for a task, which is the child's from then on", async () => {
      const { turn } = await lead();
      const make = async (input: object) => {
        const { output } = await turn.tool("task_create", input);
        return (output as { task: { id: string } }).task.id;
      };
      const check = { kind: "command", command: "make check" };
      const first = await make({ title: "Fix it", description: "In src.", check });
      const second = await make({ title: "Then this", blockedBy: [first] });
      const spawn = (taskId: string) => turn.tool("spawn_session", { prompt: "Do it.", taskId });
      expect((await spawn(second)).error).toMatch(/^task_blocked: /);
      const { output } = await spawn(first);
      const { sessionId } = output as { sessionId: string };
      const { content } = (await at.turnOf(sessionId)).assignment;
      expect(content).toMatch(/^Do it\.\n\n\[Your task on the board: tsk_/);
      expect(content).toContain("In src.");
      expect(content).toContain("make check");
      expect((await turn.tool("task_list", { sessionId })).output).toMatchObject({
        items: [{ id: first, status: "in_progress", sessionId }],
      });
      expect((await spawn(first)).error).toMatch(/^task_assigned: /);
    });

    it("spawn as many as there are places, and no more", async () => {
      const { turn } = await lead();
      const replies = [];
      for (let index = 0; index < 6; index += 1)
        replies.push(await turn.tool("create_session", { prompt: `task ${index}` }));
      expect(replies.filter(({ error }) => error === null)).toHaveLength(4);
      const refused = replies.at(-1)?.error ?? "";
      expect(refused).toMatch(/^fanout_limit_exceeded: /);
      for (const { output } of replies.slice(0, 4))
        expect(refused).toContain((output as { sessionId: string }).sessionId);
    });

    it("reach their own children and nobody else, in the same words, and leave a row each", async () => {
      const mine = await team();
      const theirs = await team();
      const others = [theirs.childId, theirs.parentId, mine.parentId, "ses_nobody"];
      const tries: [string, object][] = [
        ["get_session_status", {}],
        ["read_messages", {}],
        ["forward_messages", {}],
        ["send_message", { message: "x" }],
        ["send_to_session", { message: "x", interrupt: true }],
        ["terminate_session", {}],
      ];
      const words = new Set<string>();
      for (const sessionId of others) {
        for (const [tool, input] of tries) {
          const { error } = await mine.turn.tool(tool, { sessionId, ...input });
          words.add((error ?? "").replace(sessionId, "ID"));
        }
        const wait = await mine.turn.tool("wait_for_event", { sessionIds: [sessionId] });
        words.add((wait.error ?? "").replace(sessionId, "ID"));
        expect(wait.endsTurn).toBe(false);
      }
      expect([...words]).toEqual([
        "worker_not_linked: You have no child session ID. List your children to see their ids.",
      ]);
      const rows = (await toolRows(mine.parentId, "tool_executed")).filter(({ failed }) => failed);
      expect(rows).toHaveLength(others.length * (tries.length + 1));
      expect(new Set(rows.map(({ tool }) => tool))).toEqual(
        new Set(
          ["send_message", "wait_for_event", ...tries.map(([tool]) => tool)].filter(
            (tool) => tool !== "send_to_session",
          ),
        ),
      );
      expect(await at.session(theirs.childId)).toMatchObject({ lifecycle: "active" });
    });

    it("list children by what they do and where, the newest first", async () => {
      const { turn, childId, work } = await team();
      const onRepo = await spawnIn(turn, { repo: "acme/api", title: "api" });
      await at.settle(work, { outcome: "failed", error: { code: "turn_limit", message: "x" } });
      const list = async (input: object) => {
        const { output } = await turn.tool("list_sessions", input);
        return (output as { sessions: { sessionId: string }[] }).sessions;
      };
      const ids = async (input: object) => (await list(input)).map(({ sessionId }) => sessionId);
      expect(await ids({})).toEqual([onRepo, childId]);
      for (const repo of ["ACME/api", "https://example.org/acme/api"])
        expect(await ids({ repo })).toEqual([onRepo]);
      for (const repo of ["acme/ap", "acme", "api"]) expect(await ids({ repo })).toEqual([]);
      expect(await ids({ status: "failed" })).toEqual([childId]);
      expect(await ids({ status: "live" })).toEqual([onRepo, childId]);
      expect((await list({ status: "failed" }))[0]).toMatchObject({
        title: "counter",
        costMicros: 0,
        activity: "failed",
      });
      expect((await turn.tool("terminate_session", { sessionId: childId })).output).toEqual({
        sessionId: childId,
        status: "terminated",
      });
      expect(await ids({ status: "ended" })).toEqual([childId]);
    });

    it("list children by the words of other clients", async () => {
      const { turn, childId, work } = await team();
      const listed = async (status: string) => {
        const { output, error } = await turn.tool("list_sessions", { status });
        expect(error).toBeNull();
        return (output as { sessions: { sessionId: string }[] }).sessions.map(
          ({ sessionId }) => sessionId,
        );
      };
      expect([await listed("active"), await listed("idle"), await listed("completed")]).toEqual([
        [childId],
        [],
        [],
      ]);
      await at.settle(work, done("counted"));
      expect([await listed("active"), await listed("idle"), await listed("completed")]).toEqual([
        [],
        [childId],
        [childId],
      ]);
    });

    it("give a child a conversation of their person, and nobody else's", async () => {
      const { parentId, turn } = await lead();
      const scopeKey = `user:${owner.userId}:slack:T1:C2:1.5`;
      const childId = await spawnIn(turn, { scopeKey });
      expect(await at.session(childId)).toMatchObject({ scopeKey });
      for (const [key, code] of [
        ["user:usr_2:slack:T1:C2:1.5", "foreign_scope_key"],
        ["slack:T1", "foreign_scope_key"],
        [`user:${owner.userId}`, "foreign_scope_key"],
        [`user:${owner.userId}:manual:${parentId}`, "scope_key_taken"],
      ]) {
        const { error } = await turn.tool("create_session", { prompt: "x", scopeKey: key });
        expect(error, key).toMatch(new RegExp(`^${code}: `));
      }
    });

    it("show a child: what it said, what it waits for", async () => {
      const { turn, childId, work } = await team();
      await work.journal([
        { type: "message", entryId: "ent_t1", kind: "text", text: "Looking around." },
      ]);
      await at.ask(work, "Which port?");
      const status = async () =>
        (await turn.tool("get_session_status", { sessionId: childId })).output;
      expect(await status()).toMatchObject({
        sessionId: childId,
        activity: "needs_you",
        recent: expect.stringContaining("Looking around."),
        waitsFor: { question: ["Which port?"] },
        files: [],
      });
      const sent = await turn.tool("send_message", { sessionId: childId, message: "4747" });
      expect(sent.output).toMatchObject({ answered: true });
      expect(await status()).toMatchObject({ waitsFor: null });
      const goesOn = await at.turnOf(childId);
      expect(goesOn.assignment.decisions).toMatchObject([{ callId: "q1", answers: ["4747"] }]);
      const read = await turn.tool("read_messages", { sessionId: childId, limit: 2 });
      expect(read.output).toMatchObject({ count: 2 });
      expect(JSON.stringify(read.output)).toMatch(/Count the files.*Looking around/);
    });

    it("send more work, interrupt, and wake finished children, but not those that somebody else archived", async () => {
      const { turn, childId, work } = await team();
      const send = (message: string, interrupt?: boolean) =>
        turn.tool("send_message", { sessionId: childId, message, ...(interrupt && { interrupt }) });
      await send("then this");
      await send("no, this", true);
      await at.settle(work, { outcome: "aborted" });
      const next = await at.turnOf(childId);
      expect(next.assignment.content).toBe("no, this");
      await at.settle(next, done("ok"));
      const last = await at.turnOf(childId);
      await last.tool("complete_session", { summary: "all of it" });
      await at.settle(last, { outcome: "completed" });
      expect(await at.session(childId)).toMatchObject({ lifecycle: "archived" });
      expect((await send("again")).error).toBeNull();
      const again = await at.turnOf(childId);
      expect(again.assignment.content).toBe("again");
      await at.settle(again, done("ok"));
      await at.world.kernel.sessions.archive(owner, childId, false);
      expect((await send("and again")).error).toMatch(/^worker_not_live: .* by a person/);
      expect(await at.session(childId)).toMatchObject({ lifecycle: "archived" });
      await turn.tool("terminate_session", { sessionId: childId });
      expect((await send("once more")).error).toMatch(/^worker_not_live: /);
    });

    it("forward what a child said, word for word, under its name, where the orchestrator speaks", async () => {
      const { parentId, turn } = await lead("side");
      const childId = await spawnIn(turn);
      const work = await at.turnOf(childId);
      const forward = (input: object) =>
        turn.tool("forward_messages", { sessionId: childId, ...input });
      expect((await forward({})).error).toMatch(/said nothing yet/);
      const texts = ["one\n  two", "**three**"];
      for (const [index, text] of texts.entries())
        await work.journal([{ type: "message", entryId: `ent_f${index}`, kind: "text", text }]);
      expect((await forward({ limit: 5 })).output).toMatchObject({ forwarded: 2 });
      const { items } = await at.world.kernel.sessions.transcript(owner, parentId, { limit: 50 });
      const shown = items.filter(({ author }) => author?.id === childId);
      expect(shown.map(({ text, thread, kind }) => [text, thread, kind])).toEqual(
        texts.map((text) => [text, "side", "notice"]),
      );
      expect(shown[0]?.author).toEqual({ kind: "session", id: childId, name: "counter" });
    });

    it("give what has happened at once, and otherwise end the turn and wait", async () => {
      const { parentId, turn, childId, work } = await team();
      await at.settle(work, done("7 files"));
      const first = await turn.tool("wait_for_event", {});
      expect(first).toMatchObject({ endsTurn: false, error: null });
      expect(JSON.stringify(first.output)).toContain("7 files");
      expect(await at.wakes(parentId)).toEqual([]);
      await turn.tool("send_message", { sessionId: childId, message: "more" });
      const second = await turn.tool("wait_for_event", { sessionIds: [childId] });
      expect(second).toMatchObject({ endsTurn: true, output: { waiting: true } });
      await at.settle(turn, done(""));
      expect(await at.session(parentId)).toMatchObject({ activity: "waiting" });
      await at.settle(await at.turnOf(childId), done("9 files"));
      const woken = await at.turnOf(parentId);
      expect(woken.assignment.content).toContain("> 9 files");
      await woken.tool("terminate_session", { sessionId: childId });
      const dead = await woken.tool("wait_for_event", { sessionIds: [childId] });
      expect(dead.error).toMatch(/^worker_not_live: /);
    });

    it("hand over what has happened to a child that is gone by it", async () => {
      const { turn, childId, work } = await team();
      await work.tool("complete_session", { summary: "the result" });
      await at.settle(work, { outcome: "completed" });
      const reply = await turn.tool("wait_for_event", { sessionIds: [childId] });
      expect(reply).toMatchObject({ error: null, endsTurn: false });
      expect(JSON.stringify(reply.output)).toContain("> the result");
      const again = await turn.tool("wait_for_event", { sessionIds: [childId] });
      expect(again.error).toMatch(/^worker_not_live: /);
    });

    it("do not wait for nothing, nor for what another conversation hears of", async () => {
      const { parentId, turn } = await lead();
      const wait = await turn.tool("wait_for_event", {});
      expect(wait).toMatchObject({ endsTurn: false });
      expect(wait.error).toMatch(/^nothing_to_wait_for: /);
      expect((await turn.tool("wait_for_event", { timeoutSeconds: 5 })).endsTurn).toBe(true);
      const side = await at.prompt(parentId, "go", "side");
      const childId = await spawnIn(side);
      expect((await turn.tool("wait_for_event", {})).error).toMatch(/^nothing_to_wait_for: /);
      const named = await turn.tool("wait_for_event", { sessionIds: [childId] });
      expect(named.error).toMatch(/^worker_heard_elsewhere: /);
      expect((await side.tool("wait_for_event", {})).endsTurn).toBe(true);
    });

    it("wake a conversation whose awaited child another one has ended, with all it missed", async () => {
      const { parentId, turn } = await lead();
      const [x, y] = [await spawnIn(turn, { title: "x" }), await spawnIn(turn, { title: "y" })];
      const workY = await at.turnOf(y);
      await turn.tool("wait_for_event", { sessionIds: [x] });
      await at.settle(turn, done(""));
      await at.settle(workY, done("of y"));
      expect(await at.wakes(parentId)).toEqual([]);
      const side = await at.prompt(parentId, "go", "side");
      const ended = await side.tool("terminate_session", { sessionId: x });
      expect(ended.error).toBeNull();
      // The search for turns may have found the session busy with that call; the sweep repeats it.
      await at.world.kernel.sweeps.tick();
      const woken = await at.turnOf(parentId);
      expect(woken.assignment).toMatchObject({ thread: "main" });
      expect(woken.assignment.content).toMatch(/you waited for are gone.*> of y/s);
      await woken.tool("wait_for_event", { sessionIds: [y] });
      await at.settle(woken, done(""));
      await at.act(y, detachChild);
      expect((await at.turnOf(parentId)).assignment.content).toMatch(
        /you waited for are gone.*No more updates/s,
      );
    });

    it("sleep, until an event or the time", async () => {
      const { parentId, turn, work } = await team();
      expect(await turn.tool("sleep", { seconds: 1 })).toMatchObject({ endsTurn: true });
      await at.settle(turn, done(""));
      await at.settle(work, done("earlier"));
      const woken = await at.turnOf(parentId);
      expect(woken.assignment.content).toContain("> earlier");
      expect(await woken.tool("sleep", { seconds: 1 })).toMatchObject({ endsTurn: true });
      await at.settle(woken, done(""));
      if (made === undefined) at.world.clock.advance(1_000);
      else await new Promise((resolve) => setTimeout(resolve, 1_100));
      await at.world.kernel.sweeps.tick();
      expect((await at.turnOf(parentId)).assignment.content).toContain("The time you set");
    });

    it("wait in the calling thread, and are notified there", async () => {
      const { parentId, turn } = await lead("side");
      const childId = await spawnIn(turn);
      await turn.tool("wait_for_event", {});
      await at.settle(turn, done(""));
      await at.settle(await at.turnOf(childId), done("7"));
      expect((await at.turnOf(parentId)).assignment).toMatchObject({ thread: "side" });
    });

    it("name the repositories and the personas there are to choose from", async () => {
      const { turn } = await lead();
      const repos = await turn.tool("list_repos", { query: "interface" });
      expect(repos.output).toMatchObject({ repos: [{ fullName: "acme/api" }] });
      expect((await turn.tool("list_repos", { query: "nothing" })).output).toMatchObject({
        repos: [],
        next: expect.stringContaining("fewer words"),
      });
      const { output } = await turn.tool("list_personas", {});
      const slugs = (output as { personas: { slug: string }[] }).personas.map(({ slug }) => slug);
      expect(slugs).toEqual(expect.arrayContaining(["private", "shared"]));
      expect(JSON.stringify(output)).not.toMatch(/toolPolicy|files/);
    });

    it("say how many repositories and personas there are beside those they list", async () => {
      const { turn } = await lead();
      expect((await turn.tool("list_repos", {})).output).not.toHaveProperty("more");
      expect((await turn.tool("list_personas", {})).output).not.toHaveProperty("more");
      for (let at0 = 0; at0 < 52; at0++)
        await at.world.call(owner, "POST", `${ORG}/repos`, {
          url: `https://example.org/many/r${at0}.git`,
          description: "plenty",
        });
      for (let at0 = 0; at0 < 101; at0++)
        await at.world.call(owner, "POST", `${ORG}/personas`, { name: `p${at0}`, slug: `p${at0}` });
      const found = (await turn.tool("list_repos", { query: "plenty" })).output;
      expect(found).toMatchObject({ more: 2, next: expect.stringContaining("query") });
      const all = (await turn.tool("list_repos", {})).output as { repos: []; more: number };
      expect(all.repos).toHaveLength(50);
      expect(all.more).toBeGreaterThan(2);
      const personas = (await turn.tool("list_personas", {})).output;
      expect(personas).toMatchObject({ more: expect.any(Number), next: expect.any(String) });
      const named = (await turn.tool("list_personas", { query: "p100" })).output;
      expect(named).toMatchObject({ personas: [{ slug: "p100" }] });
      expect(named).not.toHaveProperty("more");
    });
  });
}

suite("an orchestrator's tools on sqlite", async () => undefined);
describe.skipIf(!postgresUrl)("with a server", () => {
  suite("an orchestrator's tools on postgres", () => createTestDatabase());
});

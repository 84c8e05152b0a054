/** Supervisor mode on the real kernel, with a runner that the test controls. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Log } from "#base/log.ts";
import { silentLog } from "#base/log.ts";
import { command } from "#engine/index.ts";
import { createAudit } from "#features/audit/index.ts";
import { createDelegation } from "#features/delegation/index.ts";
import { policy } from "#features/policy/index.ts";
import {
  asks,
  member,
  owner,
  startWorld,
  stranger,
  type Turn,
  type World,
} from "#features/testing/index.ts";
import { createTestDatabase, postgresUrl, type TestDatabase } from "#test/services/postgres.ts";
import { supervisorBrief } from "./brief.ts";
import { type OrchestrationRole, SUPERVISOR_TOOLS, type Worker } from "./contract.ts";
import { disabledReason } from "./gates.ts";
import { createSupervision } from "./index.ts";

const AT = "/api/orchestration";
const MAX_WORKERS = 3;
const INBOX = "orchestrate_read_inbox";

interface Spawned {
  workerId: string;
  name: string;
  state: string;
}
interface Item {
  id: string;
  type: string;
  workerId: string;
  delivered: boolean;
  payload: { text?: string; gateId?: string };
}

function linesInto(lines: [level: string, text: string, fields: object][]): Log {
  const at = (level: string) => (fields: object, text: string) =>
    void lines.push([level, text, fields]);
  return { ...silentLog, info: at("info"), warn: at("warn") };
}

function suite(title: string, database: () => Promise<TestDatabase | undefined>): void {
  describe(title, () => {
    let world: World;
    let made: TestDatabase | undefined;
    const lines: [level: string, text: string, fields: object][] = [];
    beforeAll(async () => {
      made = await database();
      const workersPerSupervisor = MAX_WORKERS;
      world = await startWorld(
        [
          createDelegation({ workersPerSupervisor }),
          createSupervision({ workersPerSupervisor, log: linesInto(lines) }),
          policy,
          createAudit().feature,
        ],
        made?.url,
      );
    });
    afterAll(async () => {
      await world.stop();
      await made?.drop();
    });

    const on = (id: string, rest = "") => `${AT}/sessions/${id}${rest}`;
    const roleOf = (id: string) => world.call<OrchestrationRole>(owner, "GET", on(id));
    const inbox = async (id: string) =>
      (await world.call<{ items: Item[] }>(owner, "GET", on(id, "/inbox"))).items;
    const workersOf = async (id: string) =>
      (await world.call<{ items: Worker[] }>(owner, "GET", on(id, "/workers"))).items;
    const post = <T = Record<string, unknown>>(path: string, who = owner) =>
      world.call<T>(who, "POST", path, {});
    const refusal = (code: string, kind: string) => ({ name: "Refusal", code, kind });
    const session = (id: string) => world.kernel.sessions.get(owner, id);
    const newSupervisor = async (fields: object = {}) => {
      const id = await world.createSession({ title: "lead", ...fields });
      await post(on(id, "/enable"));
      return id;
    };
    const spawnIn = async (turn: Turn, name: string, more: object = {}) => {
      const { output, error } = await turn.tool("orchestrate_spawn_worker", {
        name,
        initialPrompt: `do ${name}`,
        ...more,
      });
      expect(error).toBeNull();
      return output as Spawned;
    };
    /** A supervisor in a turn, and a worker in its first one. */
    const team = async () => {
      const leadId = await newSupervisor();
      const turn = await world.startTurn(leadId);
      const { workerId } = await spawnIn(turn, "w");
      return { leadId, turn, workerId, work: await world.nextTurn() };
    };
    const trail = async (session: string) => {
      const query = { session, category: "orchestration" } as const;
      return (await world.as(owner).audit.list({ query })).items.map(({ metadata }) => metadata);
    };

    it("says what there is", async () => {
      const config = await world.as(owner).supervision.getConfig();
      expect(config).toEqual({
        available: true,
        disabledReason: null,
        maxWorkersPerSupervisor: MAX_WORKERS,
        maxDepth: 1,
        tools: [...SUPERVISOR_TOOLS],
      });
    });

    it("gives the tools and a brief to an enabled session, and takes them back", async () => {
      const id = await world.createSession();
      expect(await roleOf(id)).toMatchObject({ role: "standalone", mayEnable: true });
      const before = await world.startTurn(id);
      expect(before.assignment.tools).not.toContain(INBOX);
      expect((await before.tool(INBOX, {})).error).toMatch(/^There is no tool named/);
      // The turn continues, and the log of its watchers has one more entry.
      const { lastSeq } = await session(id);
      expect(await post(on(id, "/enable"))).toMatchObject({ role: "supervisor", mayEnable: false });
      const events = await world.kernel.sessions.events(id, lastSeq, 10);
      expect(events).toMatchObject([
        { type: "session_updated", reason: "supervisor_enabled", data: { supervisor: true } },
      ]);
      expect(await post(on(id, "/enable"))).toMatchObject({ role: "supervisor" });
      expect((await session(id)).lastSeq).toBe(lastSeq + 1);
      // The running turn may already call the tools; the next one is told of them.
      expect((await before.tool(INBOX, {})).error).toBeNull();
      await before.end("ok");
      const turn = await world.startTurn(id);
      expect(turn.assignment.tools).toEqual(expect.arrayContaining([...SUPERVISOR_TOOLS]));
      expect(turn.assignment.hasBrief).toBe(true);
      expect(await post(on(id, "/disable"))).toMatchObject({ role: "standalone" });
      expect((await turn.tool(INBOX, {})).error).toMatch(/^There is no tool named/);
      await turn.end("ok");
      const after = await world.startTurn(id);
      expect(after.assignment.tools).not.toContain(INBOX);
      await after.end("ok");
    });

    it("is its owner's to switch: nobody else's, and no agent's", async () => {
      const id = await world.createSession();
      const agent = { kind: "session", orgId: "org_1", sessionId: id, ownerId: "usr_1" } as const;
      for (const rest of ["/enable", "/disable", "/inbox/clear"]) {
        const missing = rest === "/enable" ? "not_found" : "supervisor_not_found";
        for (const who of [member, stranger])
          await expect(post(on(id, rest), who)).rejects.toMatchObject(
            refusal(missing, "not_found"),
          );
        await expect(post(on("ses_none", rest))).rejects.toMatchObject(
          refusal(missing, "not_found"),
        );
        await expect(
          world.call({ ...agent, name: "agent" }, "POST", on(id, rest), {}),
        ).rejects.toMatchObject(refusal("not_owner", "forbidden"));
      }
      expect((await roleOf(id)).role).toBe("standalone");
    });

    it("has empty lists for a session without workers, and none for another person", async () => {
      const id = await world.createSession();
      const missing = refusal("supervisor_not_found", "not_found");
      for (const rest of ["/workers", "/inbox"]) {
        expect(await world.call(owner, "GET", on(id, rest))).toEqual({ items: [] });
        await expect(world.call(stranger, "GET", on(id, rest))).rejects.toMatchObject(missing);
        await expect(world.call(owner, "GET", on("ses_none", rest))).rejects.toMatchObject(missing);
      }
    });

    it("is for sessions that stand alone and are there", async () => {
      const { leadId, workerId, turn, work } = await team();
      expect(await roleOf(workerId)).toMatchObject({
        role: "worker",
        supervisorId: leadId,
        supervisorName: "lead",
        handoff: false,
        mayEnable: false,
      });
      await expect(post(on(workerId, "/enable"))).rejects.toMatchObject(
        refusal("depth_limit_exceeded", "conflict"),
      );
      expect((await work.tool("orchestrate_spawn_worker", {})).error).toMatch(/^There is no tool/);
      await work.end("ok");
      await turn.end("ok");
      await (await world.nextTurn()).end("ok");
      // A session has one link, however it is requested.
      await expect(
        command(world.kernel.engine, async (tied) => {
          const again = await tied.session(workerId);
          const asked = {
            runtime: false,
            model: false,
            persona: false,
            memory: false,
            callback: false,
          };
          if (again) await tied.emit({ type: "session_created", session: again, requested: asked });
        }),
      ).rejects.toMatchObject(refusal("worker_already_linked", "conflict"));
      const orchestrator = await world.createSession();
      await command(world.kernel.engine, ({ tx }) =>
        tx.execute({
          sql: `update sessions set kind = 'orchestrator' where id = '${orchestrator}'`,
          parameters: [],
        }),
      );
      expect(await roleOf(orchestrator)).toMatchObject({ role: "standalone", mayEnable: false });
      await expect(post(on(orchestrator, "/enable"))).rejects.toMatchObject(
        refusal("leads_already", "conflict"),
      );
      const gone = await world.createSession();
      await world.kernel.sessions.archive(owner, gone, true);
      await expect(post(on(gone, "/enable"))).rejects.toMatchObject(
        refusal("session_not_active", "conflict"),
      );
    });

    it("spawns a worker in the same project with what it needs to know", async () => {
      const leadId = await newSupervisor({ repo: "https://example.org/a.git", branch: "b" });
      const turn = await world.startTurn(leadId);
      const made = await spawnIn(turn, "port", { contextSummary: "It is in lib/.", model: "m/x" });
      expect(made).toMatchObject({ name: "port", state: "idle" });
      expect(await session(made.workerId)).toMatchObject({
        title: "port",
        repo: "https://example.org/a.git",
        branch: "b",
        model: "m/x",
        parentSessionId: leadId,
        ownerId: owner.userId,
      });
      expect(await roleOf(made.workerId)).toMatchObject({ role: "worker", handoff: true });
      const work = await world.nextTurn();
      expect(work.assignment.content).toBe(
        "[What you need to know]\nIt is in lib/.\n\n[Your task]\ndo port",
      );
      for (const bad of [
        { initialPrompt: "x" },
        { name: " ", initialPrompt: "x" },
        { name: "x", initialPrompt: "x", contextSummary: "y".repeat(8_001) },
        { name: "x", initialPrompt: "x", repo: "https://example.org/b.git" },
        { name: "x", initialPrompt: "x", projectDir: "/etc" },
      ])
        expect((await turn.tool("orchestrate_spawn_worker", bad)).error).toMatch(/does not fit/);
      await world.kernel.sessions.terminate(owner, leadId);
    });

    it("drains the inbox once, oldest first, and wakes for what is left", async () => {
      const { leadId, turn, workerId, work } = await team();
      const other = await spawnIn(turn, "other");
      const second = await world.nextTurn();
      await work.end("first result");
      await second.end("second result");
      expect(await roleOf(leadId)).toMatchObject({ pending: 2, workers: 2, liveWorkers: 2 });
      const { output } = await turn.tool(INBOX, {});
      expect(output).toMatchObject({
        items: [
          { type: "worker.ended", workerId, delivered: true, payload: { text: "first result" } },
          { type: "worker.ended", workerId: other.workerId, payload: { text: "second result" } },
        ],
      });
      expect((await turn.tool(INBOX, {})).output).toMatchObject({ items: [] });
      expect((await inbox(leadId)).every(({ delivered }) => delivered)).toBe(true);
      expect(await roleOf(leadId)).toMatchObject({ pending: 0 });
      const sent = { workerId, message: "and now count" };
      expect((await turn.tool("orchestrate_send_to_worker", sent)).output).toMatchObject({
        sent: "as a prompt",
      });
      await turn.end("waiting");
      const again = await world.nextTurn();
      expect(again.assignment).toMatchObject({ sessionId: workerId, content: "and now count" });
      await again.end("7");
      const woken = await world.nextTurn();
      expect(woken.assignment.sessionId).toBe(leadId);
      expect(woken.assignment.content).toMatch(/^\[orchestration\] 1 event/);
      await woken.end("ok");
      await world.kernel.sessions.terminate(owner, leadId);
    });

    it("reads, lists, interrupts and kills its own workers, without hearing of it", async () => {
      const { leadId, turn, workerId, work } = await team();
      const { output: list } = await turn.tool("orchestrate_list_workers", {});
      expect(list).toMatchObject({
        workers: [{ workerId, name: "w", state: "streaming", messages: 1 }],
      });
      const read = await turn.tool("orchestrate_read_worker", { workerId });
      expect(read.output).toContain("do w");
      const stop = await turn.tool("orchestrate_interrupt_worker", { workerId });
      expect(stop.output).toMatchObject({ interrupted: true });
      await work.journal([], { settle: { outcome: "aborted" } });
      expect((await turn.tool("orchestrate_interrupt_worker", { workerId })).output).toMatchObject({
        interrupted: false,
      });
      const kill = await turn.tool("orchestrate_kill_worker", { workerId, deleteOnDisk: true });
      expect(kill.output).toMatchObject({ killed: true });
      expect(JSON.stringify(kill.output)).toMatch(/kept for 7 days.*does not let agents delete/);
      expect(await workersOf(leadId)).toMatchObject([{ state: "cold", lifecycle: "archived" }]);
      expect(await inbox(leadId)).toEqual([]);
      for (const tool of ["orchestrate_interrupt_worker", "orchestrate_send_to_worker"]) {
        const input = tool.includes("send") ? { workerId, message: "x" } : { workerId };
        expect((await turn.tool(tool, input)).error).toMatch(/^worker_not_live: /);
      }
      await turn.end("ok");
    });

    it("steers, and lets a followUp wait behind a question that a prompt answers", async () => {
      const { leadId, turn, workerId, work } = await team();
      await work.journal(
        [
          {
            type: "pre_tool",
            entryId: "ent_q",
            callId: "q1",
            tool: "ask_user_question",
            input: { questions: [{ question: "Which port?" }] },
            authorise: true,
          },
        ],
        { park: { kind: "gate", callId: "q1" } },
      );
      expect(await inbox(leadId)).toMatchObject([{ type: "worker.ask_user", workerId }]);
      const send = (message: string, mode?: string) =>
        turn.tool("orchestrate_send_to_worker", { workerId, message, ...(mode ? { mode } : {}) });
      expect((await send("later", "followUp")).output).toMatchObject({ sent: "as a prompt" });
      expect((await send("4747")).output).toMatchObject({ sent: "as the answer to its question" });
      const answered = await world.nextTurn();
      expect(answered.assignment.decisions).toMatchObject([{ callId: "q1", answers: ["4747"] }]);
      expect((await send("stop that", "steer")).output).toMatchObject({ sent: "as a prompt" });
      await answered.journal([], { settle: { outcome: "superseded" } as never });
      const steered = await world.nextTurn();
      expect(steered.assignment.content).toBe("stop that");
      await world.kernel.sessions.terminate(owner, leadId);
    });

    it("has a worker present its plan, sends it back with a word and approves the next", async () => {
      const leadId = await newSupervisor();
      const turn = await world.startTurn(leadId);
      const { workerId } = await spawnIn(turn, "w", { requirePlanApproval: true });
      const present = async (work: Turn, callId: string) => {
        const call = asks(callId, "request_plan_approval", { plan: `plan ${callId}` });
        await work.journal([call], { park: { kind: "gate", callId } });
      };
      await present(await world.nextTurn(), "p1");
      expect(await workersOf(leadId)).toMatchObject([
        { requirePlanApproval: true, planState: "pending" },
      ]);
      const [first] = await inbox(leadId);
      expect(first).toMatchObject({
        type: "worker.ask_user",
        payload: { kind: "plan", text: "plan p1" },
      });
      const sent = await turn.tool("orchestrate_send_to_worker", { workerId, message: "Smaller." });
      expect(sent.output).toMatchObject({ sent: expect.stringContaining("not approved") });
      const again = await world.nextTurn();
      expect(again.assignment.decisions).toMatchObject([
        { allowed: false, reason: expect.stringMatching(/^revise: Your parent .*Smaller\./) },
      ]);
      await present(again, "p2");
      const { output } = await turn.tool(INBOX, {});
      const { items, next } = output as { items: Item[]; next: string };
      expect(next).toContain("decide_plan");
      const planId = items[0]?.payload.gateId;
      const decided = { sessionId: workerId, planId, decision: "approve" };
      expect((await turn.tool("decide_plan", decided)).error).toBeNull();
      expect((await world.nextTurn()).assignment.decisions).toMatchObject([
        { callId: "p1", allowed: false },
        { callId: "p2", allowed: true },
      ]);
      expect(await trail(leadId)).toContainEqual(
        expect.objectContaining({ change: "plan_decided" }),
      );
      await world.kernel.sessions.terminate(owner, leadId);
    });

    it("reaches no session but its own workers", async () => {
      const mine = await team();
      const theirs = await team();
      const alone = await world.createSession();
      const others = [theirs.workerId, theirs.leadId, alone, mine.leadId];
      const tries: [string, object][] = [
        ["orchestrate_read_worker", {}],
        ["orchestrate_send_to_worker", { message: "x" }],
        ["orchestrate_send_to_worker", { message: "x", mode: "steer" }],
        ["orchestrate_interrupt_worker", {}],
        ["orchestrate_kill_worker", {}],
        ["orchestrate_kill_worker", { deleteOnDisk: true }],
        ["orchestrate_detach_worker", {}],
      ];
      const calls = tries.flatMap(([tool, more]) =>
        [...others, "ses_none"].map((workerId) => [tool, { workerId, ...more }] as const),
      );
      for (const [tool, input] of calls) {
        const { error } = await mine.turn.tool(tool, input);
        expect(error, `${tool} on ${input.workerId}`).toMatch(/^worker_not_linked: /);
      }
      const at = (workerId: string, rest: string) => on(mine.leadId, `/workers/${workerId}${rest}`);
      for (const rest of ["/detach", "/kill", "/resume"]) {
        for (const workerId of others)
          await expect(post(at(workerId, rest))).rejects.toMatchObject(
            refusal("worker_not_linked", "conflict"),
          );
        await expect(post(at("ses_none", rest))).rejects.toMatchObject(
          refusal("worker_not_found", "not_found"),
        );
        for (const who of [member, stranger])
          await expect(post(at(mine.workerId, rest), who)).rejects.toMatchObject(
            refusal("supervisor_not_found", "not_found"),
          );
      }
      await world.kernel.sessions.terminate(owner, mine.leadId);
      await world.kernel.sessions.terminate(owner, theirs.leadId);
    });

    it("detaches: the supervisor is notified of a person's action before the link is removed, not of its own", async () => {
      const { leadId, turn, workerId, work } = await team();
      const other = await spawnIn(turn, "other");
      const second = await world.nextTurn();
      expect(await post(on(leadId, `/workers/${workerId}/detach`))).toEqual({
        workerId,
        detached: true,
      });
      expect(await inbox(leadId)).toMatchObject([{ type: "worker.detached", workerId }]);
      expect(await session(workerId)).toMatchObject({ parentSessionId: null, activity: "working" });
      await turn.tool("orchestrate_detach_worker", { workerId: other.workerId });
      expect(await roleOf(other.workerId)).toMatchObject({ role: "standalone", mayEnable: true });
      await work.end("nobody hears");
      await second.end("this");
      expect(await inbox(leadId)).toHaveLength(1);
      await turn.end("ok");
      await (await world.nextTurn()).end("ok");
    });

    it("ends a worker for the supervisor without a notice, and notifies it when a person deletes one", async () => {
      const { leadId, turn, workerId } = await team();
      expect(await post(on(leadId, `/workers/${workerId}/kill`))).toMatchObject({
        worker: { workerId, state: expect.stringMatching(/cold|streaming/), lifecycle: "archived" },
      });
      expect(await inbox(leadId)).toEqual([]);
      const { workerId: second } = await spawnIn(turn, "second");
      await world.nextTurn();
      await world.kernel.sessions.archive(owner, second, true);
      expect(await inbox(leadId)).toMatchObject([{ type: "worker.deleted", workerId: second }]);
      await turn.end("ok");
      const woken = await world.nextTurn();
      expect(woken.assignment.content).toContain("was ended by somebody else");
      await woken.end("ok");
    });

    it("lets in as many as there are places, and makes the resumed pay", async () => {
      const leadId = await newSupervisor();
      const turn = await world.startTurn(leadId);
      const ids: string[] = [];
      for (const name of ["a", "b", "c"]) {
        ids.push((await spawnIn(turn, name)).workerId);
        await (await world.nextTurn()).end("done");
      }
      const full = { name: "d", initialPrompt: "x" };
      expect((await turn.tool("orchestrate_spawn_worker", full)).error).toMatch(
        /^fanout_limit_exceeded: /,
      );
      const [first = ""] = ids;
      await turn.tool("orchestrate_kill_worker", { workerId: first });
      const { workerId } = await spawnIn(turn, "d");
      await (await world.nextTurn()).end("done");
      await expect(post(on(leadId, `/workers/${first}/resume`))).rejects.toMatchObject(
        refusal("fanout_limit_exceeded", "limit"),
      );
      expect(await session(first)).toMatchObject({ lifecycle: "archived" });
      await turn.tool("orchestrate_kill_worker", { workerId });
      expect(await post(on(leadId, `/workers/${first}/resume`))).toMatchObject({
        worker: { workerId: first, state: "idle", lifecycle: "active" },
      });
      // The worker is back, so its supervisor is notified of it again.
      await turn.tool(INBOX, {});
      await turn.tool("orchestrate_send_to_worker", { workerId: first, message: "again" });
      await (await world.nextTurn()).end("once more");
      expect((await inbox(leadId))[0]).toMatchObject({ workerId: first, delivered: false });
      await world.kernel.sessions.terminate(owner, first);
      await expect(post(on(leadId, `/workers/${first}/resume`))).rejects.toMatchObject(
        refusal("worker_not_live", "conflict"),
      );
      await world.kernel.sessions.terminate(owner, leadId);
    });

    it("detaches and forgets everything when it is disabled, and its workers live on", async () => {
      const { leadId, turn, workerId, work } = await team();
      const other = await spawnIn(turn, "other");
      await (await world.nextTurn()).end("a result nobody reads");
      expect(await roleOf(leadId)).toMatchObject({ pending: 1 });
      expect(await post(on(leadId, "/disable"))).toMatchObject({ role: "standalone", pending: 0 });
      await work.end("on my own");
      for (const id of [workerId, other.workerId])
        expect(await session(id)).toMatchObject({ parentSessionId: null, lifecycle: "active" });
      await turn.end("ok");
      const { items } = await world.kernel.prompts.list(owner, leadId, { limit: 10 } as never);
      expect(items.filter(({ state }) => state !== "settled")).toEqual([]);
      await post(on(leadId, "/enable"));
      expect(await inbox(leadId)).toEqual([]);
      expect(await workersOf(leadId)).toEqual([]);
    });

    it("clears the inbox, including undelivered events", async () => {
      const { leadId, turn, work } = await team();
      await work.end("x");
      expect(await post(on(leadId, "/inbox/clear"))).toEqual({ cleared: 1 });
      expect(await inbox(leadId)).toEqual([]);
      expect((await turn.tool(INBOX, {})).output).toMatchObject({ items: [] });
      await turn.end("ok");
    });

    it("leaves a line for a call that was refused, and for a worker that a person made", async () => {
      const { leadId, turn } = await team();
      lines.length = 0;
      await turn.tool("orchestrate_read_worker", { workerId: "ses_of_somebody_else" });
      await turn.tool("orchestrate_spawn_worker", { name: "no prompt" });
      await turn.tool("todo", {});
      expect(lines.map(([level, text]) => `${level} ${text}`)).toEqual([
        "warn orchestration-call-refused",
        "warn orchestration-call-refused",
      ]);
      expect(lines[0]?.[2]).toEqual({
        sessionId: leadId,
        runId: turn.assignment.run,
        tool: "orchestrate_read_worker",
      });
      lines.length = 0;
      const workerId = await world.createSession({ parentSessionId: leadId });
      expect(lines).toEqual([
        [
          "info",
          "orchestration-worker-spawned",
          { sessionId: leadId, by: expect.stringMatching(/^user:/), workerId },
        ],
      ]);
      await turn.end("ok");
    });

    it("calls a worker only what a supervisor leads", async () => {
      const leadId = await world.createSession({ title: "lead" });
      const { sessionId } = await world.kernel.runs.create(owner, {
        type: "start_session",
        prompt: "x",
        parentSessionId: leadId,
        executionMode: "async_callback",
        demands: {},
      });
      expect(await roleOf(sessionId)).toMatchObject({
        role: "standalone",
        supervisorId: null,
        supervisorName: null,
        mayEnable: false,
      });
      await (await world.nextTurn()).end("ok");
      await (await world.nextTurn()).end("ok");
    });

    it("leaves a trail and lines in the log, and no content in either", async () => {
      lines.length = 0;
      const { leadId, turn, workerId, work } = await team();
      await turn.end("ok");
      await work.end("the secret of the worker");
      const woken = await world.nextTurn();
      await woken.journal([], {
        settle: {
          outcome: "failed",
          error: { code: "model_not_configured", message: "m" },
        } as never,
      });
      const words = lines.map(([level, text]) => `${level} ${text}`);
      expect(words).toEqual([
        "info orchestration-supervisor-enabled",
        "info orchestration-worker-spawned",
        "info orchestration-inbox-enqueued",
        "info orchestration-wake-delivered",
        "warn orchestration-wake-failed",
      ]);
      expect(lines[2]?.[2]).toMatchObject({ sessionId: leadId, workerId, type: "ended" });
      expect(JSON.stringify(lines)).not.toMatch(/secret|do w/);
      const entries = await trail(leadId);
      expect(entries.map(({ change }) => change).toReversed()).toEqual([
        "supervisor_enabled",
        "worker_spawned",
        "inbox_enqueued",
        "wake_delivered",
        "wake_failed",
      ]);
      expect(entries[2]).toMatchObject({ subjectId: workerId, detail: "ended" });
      const calls = await world.as(owner).audit.list({
        query: { session: leadId, action: "tool_executed" },
      });
      expect(calls.items.map(({ metadata }) => metadata.tool)).toEqual([
        "orchestrate_spawn_worker",
      ]);
    });

    it("hints at the inbox, so that nobody has to look again and again", async () => {
      const hints: string[] = [];
      const leave = world.kernel.engine.announcer.onHint(`user:${owner.userId}`, ({ type, id }) =>
        hints.push(`${type} ${id}`),
      );
      const { leadId, turn, work } = await team();
      hints.length = 0;
      await work.end("x");
      await expect.poll(() => hints).toContain(`inbox ${leadId}`);
      hints.length = 0;
      await turn.tool(INBOX, {});
      await expect.poll(() => hints).toContain(`inbox ${leadId}`);
      leave();
      await turn.end("ok");
    });
  });
}

suite("supervision on sqlite", async () => undefined);
describe.skipIf(!postgresUrl)("with a server", () => {
  suite("supervision on postgres", () => createTestDatabase());
});

describe("the instance's gate", () => {
  it.each([
    [{ disabled: false, minimalUi: false }, null],
    [{ disabled: true, minimalUi: false }, "orchestration_disabled"],
    [{ disabled: false, minimalUi: true }, "minimal_ui_disabled"],
    [{ disabled: true, minimalUi: true }, "minimal_ui_disabled"],
  ])("%o is %s", (settings, reason) => expect(disabledReason(settings)).toBe(reason));

  it("when closed leaves no tool, no brief and no route but the one that says why", async () => {
    const reason = "orchestration_disabled";
    const world = await startWorld([
      createDelegation(),
      createSupervision({ disabledReason: reason }),
    ]);
    const id = await world.createSession();
    expect(await world.call(owner, "GET", `${AT}/config`)).toMatchObject({
      available: false,
      disabledReason: reason,
      tools: [],
    });
    const closed: [string, string][] = [
      ["GET", ""],
      ["GET", "/workers"],
      ["GET", "/inbox"],
      ["POST", "/enable"],
      ["POST", "/disable"],
      ["POST", "/inbox/clear"],
      ["POST", "/workers/ses_1/detach"],
      ["POST", "/workers/ses_1/kill"],
      ["POST", "/workers/ses_1/resume"],
    ];
    for (const [method, rest] of closed)
      await expect(
        world.call(owner, method, `${AT}/sessions/${id}${rest}`, {}),
      ).rejects.toMatchObject({ code: reason, kind: "forbidden" });
    // A session whose mode was enabled before the server disabled it.
    await command(world.kernel.engine, async (work) => {
      const session = await work.session(id);
      if (session) session.row.role = "supervisor";
    });
    const turn = await world.startTurn(id);
    expect(turn.assignment.tools.filter((name) => name.startsWith("orchestrate_"))).toEqual([]);
    expect((await turn.tool(INBOX, {})).error).toMatch(/^There is no tool named/);
    await world.stop();
  });

  it("lets agents delete only where the server says so", async () => {
    const world = await startWorld([createDelegation(), createSupervision({ allowDelete: true })]);
    const id = await world.createSession();
    await world.call(owner, "POST", `${AT}/sessions/${id}/enable`, {});
    const turn = await world.startTurn(id);
    const brief = { name: "w", initialPrompt: "x" };
    const { workerId } = (await turn.tool("orchestrate_spawn_worker", brief)).output as Spawned;
    await (await world.nextTurn()).end("done");
    const kill = await turn.tool("orchestrate_kill_worker", { workerId, deleteOnDisk: true });
    expect(kill.output).toMatchObject({ kept: "Nothing: it is being deleted." });
    await world.kernel.sweeps.tick();
    await expect(world.kernel.sessions.get(owner, workerId)).rejects.toMatchObject({
      code: "not_found",
    });
    await world.stop();
  });
});

describe("the brief", () => {
  it("names tools that there are", () => {
    const named = supervisorBrief(8, { repo: null, project_dir: null }).match(/orchestrate_\w+/g);
    expect(new Set(named)).toEqual(new Set(SUPERVISOR_TOOLS));
  });

  it.each([
    [{ repo: "https://example.org/a.git", project_dir: null }, "its own clone"],
    [{ repo: null, project_dir: "/srv/app" }, "the same folder as you"],
    [{ repo: null, project_dir: null }, "its own empty folder"],
  ])("says where workers work: %j", (project, words) => {
    expect(supervisorBrief(8, project)).toContain(words);
  });
});

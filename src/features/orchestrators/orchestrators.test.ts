/** Orchestrators on the real kernel, on both databases. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fallAsleep } from "#engine/sessions/index.ts";
import { authMigrations, insertUser } from "#features/auth/index.ts";
import { createDelegation } from "#features/delegation/index.ts";
import {
  member,
  owner,
  startWorld,
  stranger,
  type User,
  type World,
} from "#features/testing/index.ts";
import type { Session } from "#protocol/sessions.ts";
import { createTestDatabase, postgresUrl, type TestDatabase } from "#test/services/postgres.ts";
import type { Identity, Recovery } from "./contract.ts";
import { createOrchestrators } from "./index.ts";
import { reviveDead } from "./running/revive-dead.ts";

const ONE = "/api/me/orchestrator";
const ORG = "/api/orgs/org_1";
const agent = {
  kind: "session",
  orgId: "org_1",
  sessionId: "orchestrator:usr_1",
  ownerId: "usr_1",
  name: "agent",
} as const;

interface Started {
  session: Session;
  identity: Identity;
  alreadyExists: boolean;
}
interface Shown {
  session: Session | null;
  identity: Identity | null;
  needsRestart: boolean;
  recovery: Recovery | null;
}

function suite(title: string, database: () => Promise<TestDatabase | undefined>): void {
  describe(title, () => {
    let world: World;
    let made: TestDatabase | undefined;
    let people = 10;
    beforeAll(async () => {
      made = await database();
      const auth = { name: "auth", migrations: authMigrations };
      world = await startWorld([auth, createDelegation(), createOrchestrators()], made?.url);
      await execute(
        "insert into orgs (id, name, slug, created_at) values ('org_1', 'Crew', 'crew', 1), ('org_2', 'Other', 'other', 1)",
      );
      for (const who of [owner, member, stranger]) await addUser(who);
    });
    afterAll(async () => {
      await world.stop();
      await made?.drop();
    });

    const store = () => world.kernel.engine.store;
    const execute = (sql: string) =>
      store().transaction((tx) => tx.execute({ sql, parameters: [] }));
    const addUser = ({ userId: id, orgId: org_id, name, role }: User) =>
      store().transaction((tx) =>
        insertUser(tx, {
          ...{ id, org_id, name, role, email: null },
          ...{ timezone: "UTC", locale: "en", created_at: 1 },
        }),
      );
    const newPerson = async (name = "Pat Kim"): Promise<User> => {
      const person = { ...member, userId: `usr_${++people}`, name };
      await addUser(person);
      return person;
    };
    const start = (who: User, body: object = {}) => world.call<Started>(who, "POST", ONE, body);
    const show = (who: User) => world.call<Shown>(who, "GET", ONE);
    const idOf = ({ userId }: User) => `orchestrator:${userId}`;
    const end = (who: User) => world.kernel.sessions.terminate(who, idOf(who));
    /** Moves everything that happened to the orchestrator into the past. */
    const age = async (who: User, ms: number) => {
      await execute(
        `update sessions set archived_at = archived_at - ${ms} where id = '${idOf(who)}'`,
      );
      const [row] = await store().read((reader) =>
        reader.query<{ restarts: string; stopped_at: number | null }>({
          sql: `select restarts, stopped_at from orchestrator_identities where user_id = '${who.userId}'`,
          parameters: [],
        }),
      );
      const restarts = (JSON.parse(row?.restarts ?? "[]") as number[]).map((at) => at - ms);
      await execute(
        `update orchestrator_identities set restarts = '${JSON.stringify(restarts)}', stopped_at = stopped_at - ${ms} where user_id = '${who.userId}'`,
      );
    };
    const sweep = () => reviveDead(world.kernel.engine, Number.MAX_SAFE_INTEGER);

    it("are made of nothing but a name, once", async () => {
      const ann = await newPerson("Ann");
      expect(await show(ann)).toEqual({
        session: null,
        identity: null,
        needsRestart: false,
        recovery: null,
      });
      const first = await start(ann);
      expect(first).toMatchObject({
        alreadyExists: false,
        identity: {
          ...{ id: ann.userId, type: "personal" },
          ...{ name: "Ann's agent", handle: "ann", style: "professional" },
        },
        session: {
          id: idOf(ann),
          kind: "orchestrator",
          isOrchestrator: true,
          title: "Ann's agent",
          runtime: "native",
          lifecycle: "active",
          incarnation: 1,
          repo: null,
          persona: null,
        },
      });
      expect(first.identity.acceptsAgentMail).toBe("none");
      const again = await start(ann, { name: "Other" });
      expect(again).toMatchObject({ alreadyExists: true, identity: { name: "Ann's agent" } });
      expect(await show(ann)).toMatchObject({ needsRestart: false, recovery: null });
      const second = await start(await newPerson("ANN"));
      expect(second.identity.handle).toBe("ann-2");
    });

    it("have an image that their person uploaded, and that only the org sees", async () => {
      const ida = await newPerson("Ida");
      await start(ida);
      const change = (avatar: unknown) =>
        world.call<{ identity: Identity }>(ida, "PUT", `${ONE}/identity`, { avatar });
      const png = Buffer.from("\x89PNG\r\n\x1a\nand the rest", "latin1");
      const url = (type: string, bytes: Buffer) =>
        `data:image/${type};base64,${bytes.toString("base64")}`;
      const { identity } = await change(url("png", png));
      expect(identity.avatar).toMatch(
        new RegExp(`^/api/agents/${ida.userId}/avatar\\?v=[0-9a-f]{16}$`),
      );
      const path = `/api/agents/${ida.userId}/avatar`;
      const read = (who: User) =>
        world.call<{ raw: { body: Uint8Array; headers: Record<string, string> } }>(
          who,
          "GET",
          path,
        );
      const { raw } = await read(member);
      expect(Buffer.from(raw.body)).toEqual(png);
      expect(raw.headers).toMatchObject({ "Content-Type": "image/png" });
      const missing = { code: "not_found" };
      await expect(read(stranger)).rejects.toMatchObject(missing);
      // The displayed value may be sent back unchanged.
      expect((await change(identity.avatar)).identity.avatar).toBe(identity.avatar);
      const script = Buffer.from("<svg onload=alert(1)>");
      for (const bad of [
        url("svg+xml", script),
        url("png", script),
        url("png", Buffer.concat([png, Buffer.alloc(64 * 1024)])),
        "data:text/html;base64,PHA+",
        "/api/agents/usr_1/avatar?v=0",
      ])
        await expect(change(bad)).rejects.toMatchObject({ code: "avatar_invalid" });
      expect(Buffer.from((await read(ida)).raw.body)).toEqual(png);
      await change("🦉");
      await expect(read(ida)).rejects.toMatchObject(missing);
    });

    it("have one handle each, whatever its capitals", async () => {
      const bea = await newPerson("Bea");
      const { identity } = await start(bea, {
        name: "Jarvis",
        handle: "@Jarvis",
        avatar: "🎩",
        style: "custom",
        customInstructions: "Tests first.",
      });
      expect(identity).toMatchObject({ handle: "Jarvis", avatar: "🎩", style: "custom" });
      const cy = await newPerson("Cy");
      const check = (who: User, handle: string) =>
        world.call(who, "GET", `${ONE}/check-handle?handle=${handle}`);
      expect(await check(cy, "jarvis")).toEqual({ available: false, suggestion: "jarvis-2" });
      expect(await check(bea, "jarvis")).toEqual({ available: true });
      expect(await check(cy, "orchestrator")).toMatchObject({ available: false });
      await expect(start(cy, { handle: "JARVIS" })).rejects.toMatchObject({
        kind: "conflict",
        code: "handle_taken",
        details: [{ path: "suggestion", message: "JARVIS-2" }],
      });
      // A refused request leaves nothing behind.
      expect(await show(cy)).toMatchObject({ session: null, identity: null });
      await start(cy);
      const rename = (body: object) => world.call(cy, "PUT", `${ONE}/identity`, body);
      await expect(rename({ handle: "jarvis" })).rejects.toMatchObject({ code: "handle_taken" });
      await rename({ name: "Friday", handle: "CY", style: "terse" });
      expect(await show(cy)).toMatchObject({
        session: { title: "Friday" },
        identity: { name: "Friday", handle: "CY", style: "terse" },
      });
      const other = await start({ ...stranger }, { handle: "jarvis" });
      expect(other.identity.handle).toBe("jarvis");
    });

    it("give a handle that several want at once to one of them", async () => {
      const all = await Promise.all([1, 2, 3, 4].map(() => newPerson("Dee")));
      const named = await Promise.all(all.map((who) => start(who)));
      expect(new Set(named.map(({ identity }) => identity.handle)).size).toBe(4);
      const tries = await Promise.allSettled(
        all.map((who) => world.call(who, "PUT", `${ONE}/identity`, { handle: "the-one" })),
      );
      expect(tries.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    });

    it("are started once and restarted once, however many ask at once", async () => {
      const eve = await newPerson("Eve");
      const starts = await Promise.all([1, 2, 3, 4].map(() => start(eve)));
      expect(starts.filter(({ alreadyExists }) => !alreadyExists)).toHaveLength(1);
      await end(eve);
      await age(eve, 3 * 60_000);
      expect(await show(eve)).toMatchObject({
        needsRestart: true,
        session: { lifecycle: "terminated" },
        recovery: { state: "recovering" },
      });
      const restart = () => world.call<Started>(eve, "POST", `${ONE}/restart`);
      const again = await Promise.all([restart(), start(eve), sweep(), restart()]);
      expect((await show(eve)).session).toMatchObject({ lifecycle: "active", incarnation: 2 });
      expect(again.filter((one) => one && !one.alreadyExists).length).toBeLessThanOrEqual(1);
      const events = await world.kernel.sessions.events(idOf(eve), 0, 100);
      expect(events.filter(({ reason }) => reason === "restarted")).toHaveLength(1);
    });

    it("keep their queue when a healthy one is restarted, by force alone", async () => {
      const gus = await newPerson("Gus");
      await start(gus);
      const running = await world.startTurn(idOf(gus), "first", gus);
      const waiting = await world.kernel.prompts.admit(gus, idOf(gus), {
        content: "second",
        mode: "followup",
        thread: "main",
        attachments: [],
      });
      const restart = (force?: boolean) =>
        world.call<Started>(gus, "POST", `${ONE}/restart`, force ? { force } : {});
      expect(await restart()).toMatchObject({ alreadyExists: true, session: { incarnation: 1 } });
      const restarted = await restart(true);
      expect(restarted).toMatchObject({
        alreadyExists: false,
        session: { lifecycle: "active", incarnation: 2, counts: { queued: 1 } },
      });
      await running.journal([], { settle: { outcome: "aborted" } });
      const next = await world.nextTurn();
      expect(next.assignment).toMatchObject({ promptId: waiting.id, content: "second" });
      await next.end("done");
    });

    it("come to be with the first prompt for them, and for nobody else", async () => {
      const ida = await newPerson("Ida");
      const request = {
        content: "hello",
        mode: "followup",
        thread: "main",
        attachments: [],
      } as const;
      const say = (who: User, id: string) => world.kernel.prompts.admit(who, id, request);
      for (const who of [member, { ...ida, scopes: ["sessions:read"] }])
        await expect(say(who, idOf(ida))).rejects.toMatchObject({ code: "not_found" });
      await expect(say(ida, "ses_nobody")).rejects.toMatchObject({ code: "not_found" });
      expect((await show(ida)).session).toBeNull();
      const prompt = await say(ida, idOf(ida));
      expect(prompt.sessionId).toBe(idOf(ida));
      expect(await show(ida)).toMatchObject({ needsRestart: false, session: { incarnation: 1 } });
      await (await world.nextTurn()).end("hello");
    });

    it("keep what was said through every life", async () => {
      const fay = await newPerson("Fay");
      await start(fay);
      const turn = await world.startTurn(idOf(fay), "remember the number 7", fay);
      await turn.end("I will.");
      await end(fay);
      // A person's prompt restores it.
      const woken = await world.startTurn(idOf(fay), "which number?", fay);
      expect(woken.assignment).toMatchObject({ sessionId: idOf(fay), role: "orchestrator" });
      await woken.end("7");
      const { items } = await world.kernel.sessions.transcript(fay, idOf(fay), { limit: 50 });
      expect(items.map(({ text }) => text)).toContain("remember the number 7");
      expect((await show(fay)).session).toMatchObject({ incarnation: 2, lifecycle: "active" });
    });

    it("are woken when they sleep", async () => {
      const gus = await newPerson("Gus");
      await start(gus);
      await world.kernel.sessions.hibernate(gus, idOf(gus));
      expect(await start(gus)).toMatchObject({
        alreadyExists: true,
        session: { lifecycle: "hibernated" },
      });
      expect(await show(gus)).toMatchObject({ needsRestart: false });
      expect(await world.call(gus, "POST", `${ONE}/wake`)).toMatchObject({
        alreadyExists: true,
        session: { lifecycle: "active", incarnation: 1 },
      });
      await world.kernel.sessions.archive(gus, idOf(gus), true);
      expect(await world.call(gus, "POST", `${ONE}/wake`)).toMatchObject({
        session: { lifecycle: "active", incarnation: 2 },
      });
    });

    it("come back by themselves after a while, until that has failed three times", async () => {
      const hal = await newPerson("Hal");
      await start(hal);
      for (const incarnation of [2, 3, 4]) {
        await end(hal);
        await sweep();
        expect((await show(hal)).session).toMatchObject({ lifecycle: "terminated" });
        await age(hal, 2 * 60_000 + 1);
        await sweep();
        expect((await show(hal)).session).toMatchObject({ lifecycle: "hibernated", incarnation });
      }
      await end(hal);
      await age(hal, 2 * 60_000 + 1);
      await sweep();
      expect(await show(hal)).toMatchObject({
        session: { lifecycle: "terminated" },
        needsRestart: true,
        recovery: { state: "stopped", nextAttemptAt: null },
      });
      await age(hal, 60 * 60_000);
      await sweep();
      expect((await show(hal)).session).toMatchObject({ lifecycle: "terminated" });
      await world.call(hal, "POST", `${ONE}/restart`);
      expect(await show(hal)).toMatchObject({ session: { incarnation: 5 }, recovery: null });
      await end(hal);
      await age(hal, 3 * 60_000);
      expect((await show(hal)).recovery).toMatchObject({ state: "recovering" });
      await sweep();
      expect((await show(hal)).session).toMatchObject({ incarnation: 6 });
    });

    it("do nothing by coming back that nobody asked for", async () => {
      const lou = await newPerson("Lou");
      await start(lou);
      const turn = await world.startTurn(idOf(lou), "build everything", lou);
      const spawned = await turn.tool("spawn_session", { prompt: "x", title: "X" });
      expect(spawned.error).toBeNull();
      const child = await world.nextTurn();
      await end(lou);
      await turn.journal([], { settle: { outcome: "aborted" } });
      await child.journal([], { settle: { outcome: "aborted" } });
      await age(lou, 3 * 60_000);
      await sweep();
      expect((await show(lou)).session).toMatchObject({ incarnation: 2, activity: "asleep" });
      const prompts = async () =>
        (await world.kernel.prompts.list(lou, idOf(lou), { limit: 50 })).items.length;
      expect(await prompts()).toBe(1);
      const woken = await world.startTurn(idOf(lou), "are you there?", lou);
      expect(woken.assignment.content).toBe("are you there?");
      await woken.end("Yes.");
      expect(await prompts()).toBe(2);
    });

    it("stay archived when their owner archived them, until they are used again", async () => {
      const mia = await newPerson("Mia");
      await start(mia);
      await world.kernel.sessions.archive(mia, idOf(mia), true);
      await age(mia, 60 * 60_000);
      await sweep();
      expect(await show(mia)).toMatchObject({
        session: { lifecycle: "archived" },
        recovery: { state: "stopped", nextAttemptAt: null },
      });
      // Every way back by a person is the same, and clears the earlier failures.
      await execute(
        `update orchestrator_identities set restarts = '[1]' where user_id = '${mia.userId}'`,
      );
      const woken = await world.startTurn(idOf(mia), "come back", mia);
      await woken.end("Here.");
      expect((await show(mia)).session).toMatchObject({ lifecycle: "active", incarnation: 2 });
      const [row] = await store().read((reader) =>
        reader.query<{ restarts: string }>({
          sql: `select restarts from orchestrator_identities where user_id = '${mia.userId}'`,
          parameters: [],
        }),
      );
      expect(row?.restarts).toBe("[]");
    });

    it("do not come back to somebody who has left", async () => {
      const ida = await newPerson("Ida");
      await start(ida);
      await end(ida);
      await age(ida, 60 * 60_000);
      await execute(`update users set removed_at = 5 where id = '${ida.userId}'`);
      await sweep();
      expect((await show(ida)).session).toMatchObject({ lifecycle: "terminated" });
      const { items } = await world.call<{ items: Identity[] }>(owner, "GET", `${ORG}/agents`);
      expect(items.map(({ userId }) => userId)).not.toContain(ida.userId);
      const person = { orgId: "org_1", userId: ida.userId };
      while (!(await world.kernel.purgePerson(person)));
      expect(await show(ida)).toMatchObject({ session: null, identity: null });
    });

    it("are not purged, however long ago they ended", async () => {
      const jo = await newPerson("Jo");
      await start(jo);
      await end(jo);
      await age(jo, 100 * 24 * 60 * 60_000);
      await world.kernel.sweeps.tick();
      expect((await show(jo)).session).not.toBeNull();
    });

    it("get instructions with their identity and their way of working", async () => {
      const kit = await newPerson("Kit");
      await start(kit, { handle: "kitty", customInstructions: "Speak Latin." });
      const { brief } = createOrchestrators();
      const { instructions, files } = await store().read(async (reader) => {
        const session = {
          id: idOf(kit),
          kind: "orchestrator",
          org_id: "org_1",
          owner_id: kit.userId,
        };
        return (await brief?.(reader, session as never, {} as never)) as never as {
          instructions: { name: string; content: string }[];
          files: { path: string; content: string }[];
        };
      });
      expect(instructions.map(({ name }) => name)).toEqual([
        "00-ORCHESTRATOR-SYSTEM.md",
        "01-IDENTITY.md",
      ]);
      expect(instructions[1]?.content).toContain("@kitty");
      expect(instructions[1]?.content).toContain("Speak Latin.");
      expect(files.map(({ path }) => path)).toContain(".muster/persona/01-IDENTITY.md");
      const turn = await world.startTurn(idOf(kit), "hi", kit);
      expect(turn.assignment.hasBrief).toBe(true);
      await turn.end("salve");
    });

    it("are as their people prefer, within what admins settle", async () => {
      const lou = await newPerson("Lou");
      const prefer = (body: object) => world.call(lou, "PATCH", "/api/me/preferences", body);
      expect(await world.call(lou, "GET", "/api/me/preferences")).toEqual({
        idleTimeoutMs: null,
        queueMode: null,
        model: null,
      });
      await prefer({ model: "lab/small", queueMode: "collect" });
      expect((await start(lou)).session).toMatchObject({
        model: "lab/small",
        queueMode: "collect",
      });
      await prefer({ model: "lab/large", idleTimeoutMs: 600_000 });
      expect((await show(lou)).session).toMatchObject({ model: "lab/large", queueMode: "collect" });
      // A change of the session becomes the owner's preference.
      await world.kernel.sessions.update(lou, idOf(lou), { model: "lab/other" });
      expect(await world.call(lou, "GET", "/api/me/preferences")).toEqual({
        idleTimeoutMs: 600_000,
        queueMode: "collect",
        model: "lab/other",
      });

      const settings = `${ORG}/orchestrator-settings`;
      await expect(world.call(lou, "PATCH", settings, { model: "a/b" })).rejects.toMatchObject({
        kind: "forbidden",
      });
      await world.call(owner, "PATCH", settings, { model: "house/one" });
      expect(await world.call(lou, "GET", settings)).toEqual({ model: "house/one" });
      await expect(prefer({ model: "lab/large" })).rejects.toMatchObject({ code: "model_fixed" });
      await expect(
        world.kernel.sessions.update(lou, idOf(lou), { model: "lab/large" }),
      ).rejects.toMatchObject({ code: "model_fixed" });
      await prefer({ queueMode: "followup" });
      const turn = await world.startTurn(idOf(lou), "hi", lou);
      expect(turn.assignment.model).toBe("house/one");
      await turn.end("hello");
      await world.call(owner, "PATCH", settings, { model: null });
      expect((await world.startTurn(idOf(lou), "hi", lou)).assignment.model).toBe("lab/other");
    });

    it("fall asleep as their people prefer", async () => {
      const max = await newPerson("Max");
      const moe = await newPerson("Moe");
      await world.call(max, "PATCH", "/api/me/preferences", { idleTimeoutMs: 60 * 60_000 });
      await world.call(moe, "PATCH", "/api/me/preferences", { idleTimeoutMs: 60_000 });
      for (const who of [max, moe]) {
        await start(who);
        await execute(
          `update sessions set updated_at = updated_at - ${10 * 60_000} where id = '${idOf(who)}'`,
        );
      }
      const { now } = await store().transaction(async (tx) => ({ now: tx.now }));
      await fallAsleep(world.kernel.engine, now, 5 * 60_000);
      expect((await show(max)).session).toMatchObject({ lifecycle: "active" });
      expect((await show(moe)).session).toMatchObject({ lifecycle: "hibernated" });
    });

    it("are known to others by name only, to admins also by state and cost", async () => {
      const nat = await newPerson("Nat");
      await start(nat, { customInstructions: "my secret wish", name: "Natbot" });
      const directory = await world.call<{ items: object[] }>(member, "GET", `${ORG}/agents`);
      const shown = { userId: nat.userId, name: "Natbot", handle: "nat", avatar: null };
      expect(directory.items).toContainEqual(shown);
      expect(await world.call(member, "GET", "/api/me/org-agents")).toEqual(directory);
      const theirs = await world.call<{ items: object[] }>(stranger, "GET", "/api/me/org-agents");
      expect(JSON.stringify(theirs)).not.toContain("Natbot");
      await expect(world.call(stranger, "GET", `${ORG}/agents`)).rejects.toMatchObject({
        kind: "not_found",
      });

      const overseen = await world.call<{ items: { identity: Identity; session: object }[] }>(
        owner,
        "GET",
        `${ORG}/orchestrators`,
      );
      const one = overseen.items.find(({ identity }) => identity.userId === nat.userId);
      expect(one).toMatchObject({ session: { lifecycle: "active", cost: 0 }, needsRestart: false });
      expect(Object.keys(one?.session ?? {})).not.toContain("title");
      expect(JSON.stringify(overseen)).not.toContain("my secret wish");
      await expect(world.call(member, "GET", `${ORG}/orchestrators`)).rejects.toMatchObject({
        kind: "forbidden",
      });
    });

    it("are nobody else's, and no agent's", async () => {
      const oli = await newPerson("Oli");
      await start(oli);
      for (const who of [member, owner, stranger]) {
        await expect(world.kernel.sessions.get(who, idOf(oli))).rejects.toMatchObject({
          kind: "not_found",
        });
        await expect(
          world.kernel.prompts.admit(who, idOf(oli), {
            content: "x",
            thread: "main",
            attachments: [],
          }),
        ).rejects.toMatchObject({ kind: "not_found" });
      }
      const calls: [method: string, path: string, body?: object][] = [
        ["GET", ONE],
        ["POST", ONE, {}],
        ["POST", `${ONE}/wake`],
        ["POST", `${ONE}/restart`],
        ["GET", `${ONE}/identity`],
        ["PUT", `${ONE}/identity`, { name: "x" }],
        ["GET", `${ONE}/check-handle?handle=abc`],
        ["GET", "/api/me/preferences"],
        ["PATCH", "/api/me/preferences", {}],
        ["GET", "/api/me/org-agents"],
        ["GET", `${ORG}/agents`],
        ["GET", `${ORG}/orchestrators`],
        ["GET", `${ORG}/orchestrator-settings`],
        ["PATCH", `${ORG}/orchestrator-settings`, { model: null }],
      ];
      for (const [method, path, body] of calls)
        await expect(world.call(agent, method, path, body)).rejects.toMatchObject({
          kind: "forbidden",
        });
      const sessionless: User = { ...oli, scopes: ["mail"] };
      await expect(start(sessionless)).rejects.toMatchObject({ kind: "forbidden" });
    });
  });
}

suite("orchestrators on sqlite", async () => undefined);
describe.skipIf(!postgresUrl)("with a server", () => {
  suite("orchestrators on postgres", () => createTestDatabase());
});

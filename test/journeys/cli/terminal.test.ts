/** `muster chat` and `muster sessions tree` against a real server, as a person at a terminal sees them. */
import { spawn, spawnSync } from "node:child_process";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import type { Session } from "#protocol/sessions.ts";
import {
  createFakeHost,
  type FakeHost,
  type FakeHostOptions,
  runCommand,
} from "#test/cli/fake-host.ts";
import { TinyTerminal } from "#test/cli/tiny-terminal.ts";
import { type ModelServer, startModelServer } from "#test/model-server/model-server.ts";
import { type Platform, startPlatform } from "#test/platform.ts";
import "#test/services/bubblewrap.ts";

const PATIENT = { timeout: 30_000, interval: 20 };
const CALL = 'CALL bash {"command": "git push origin main || echo pushed"}';
/** Ctrl-J between the lines. */
const PUSH = `${CALL}\nSAY all pushed`;
const CTRL_C = "\u0003";

let platform: Platform;
let model: ModelServer;
beforeAll(async () => {
  model = await startModelServer();
  platform = await startPlatform({
    env: {
      MUSTER_MODEL: "anthropic/claude-test",
      ANTHROPIC_API_KEY: "test-key",
      ANTHROPIC_BASE_URL: model.url,
    },
  });
});
afterAll(async () => {
  await platform.stop();
  await model.close();
});

const env = ({ url, key } = platform) => ({
  MUSTER_SERVER: url,
  MUSTER_API_KEY: key,
  MUSTER_HOME: "/nonexistent",
});

async function inLines(words: string[], options: FakeHostOptions) {
  const host = createFakeHost({ env: env(), ...options });
  const code = await runCommand(host, ...words);
  return { code, out: host.out, err: host.err };
}

describe("chat without a terminal", () => {
  it("sends each line, prints the answers and exits after the last one", async () => {
    const session = await platform.createSession();
    const { code, out, err } = await inLines(["chat", session.id], {
      input: "think hm\n say one\nsay two\n",
    });
    expect({ code, out }).toEqual({ code: 0, out: "one\ntwo\n" });
    expect(err).not.toContain("hm");
    const aloud = await inLines(["chat", session.id, "--reasoning"], { input: "think hm\n" });
    expect(aloud.err).toContain("hm");
  });

  it("exits with the outcome of the last prompt", async () => {
    const { id } = await platform.createSession();
    const failed = await inLines(["chat", id], { input: "fail out of luck\n" });
    expect(failed.code).toBe(1);
    expect(failed.err).toContain("out of luck");
    expect(await inLines(["chat", id], { input: "/nonsense\n" })).toMatchObject({ code: 4 });
    expect((await inLines(["chat", id], { input: "" })).code).toBe(2);
    expect((await inLines(["chat", id], { input: "/help\n" })).code).toBe(0);
    expect((await inLines(["chat", "ses_nobody"], { input: "x\n" })).code).toBe(6);
  });

  it("prints events as JSON lines for programs", async () => {
    const { id } = await platform.createSession();
    const { code, out } = await inLines(["chat", id, "--json"], { input: "say hi\n" });
    const lines = out
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(code).toBe(0);
    expect(lines.map(({ type }) => type)).toContain("run_claimed");
    expect(lines.find(({ prompt }) => prompt)).toMatchObject({ prompt: { outcome: "completed" } });
  });

  it("writes no control character from an agent into a pipe", async () => {
    const { id } = await platform.createSession();
    const input = "say a\u001b]52;c;eA==\u0007\u009b2J\u202eb\n";
    for (const words of [
      ["chat", id],
      ["chat", id, "--json"],
    ]) {
      const { out, err } = await inLines(words, { input });
      expect(out + err).not.toMatch(/[^\P{Cc}\n]|\p{Bidi_Control}/u);
      expect(out).toMatch(/a(<U\+001B>|\\u001b)\]52;c;eA==/);
    }
  });

  it("takes a line as an answer only if the line says so", async () => {
    const session = await platform.createSession({ runtime: "native" });
    const typing = createLines();
    const host = createFakeHost({ env: env(), lines: typing });
    const ended = runCommand(host, "chat", session.id);
    typing.say(CALL);
    await vi.waitUntil(() => host.err.includes("Allow bash?"), PATIENT);
    expect(host.err).toContain("git push origin main || echo pushed");
    typing.say("y");
    await vi.waitUntil(async () => (await queued(session.id)).includes("y"), PATIENT);
    expect(host.err).not.toContain("Allowed");
    typing.say("/allow");
    typing.end();
    expect(await ended).toBe(0);
    expect(host.err).toContain("Allowed.");
  });
});

/** Lines that arrive one by one, as from a program. */
function createLines() {
  const waiting: string[] = [];
  let wake = () => {};
  let isOver = false;
  return {
    say(line: string) {
      waiting.push(`${line}\n`);
      wake();
    },
    end() {
      isOver = true;
      wake();
    },
    async *[Symbol.asyncIterator]() {
      for (;;) {
        const line = waiting.shift();
        if (line !== undefined) yield line;
        else if (isOver) return;
        else
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
      }
    },
  };
}

async function queued(sessionId: string): Promise<string[]> {
  const { body } = await platform.request<{ items: { content: string }[] }>(
    "GET",
    `/api/sessions/${sessionId}/prompts?state=queued`,
  );
  return body.items.map(({ content }) => content);
}

async function pendingOf({ id }: Session): Promise<unknown[]> {
  const path = `/api/approvals?state=pending&session=${id}`;
  return (await platform.request<{ items: unknown[] }>("GET", path)).body.items;
}

describe("chat on a terminal", () => {
  const open: { host: FakeHost; ended: Promise<number | undefined> }[] = [];
  afterEach(async () => {
    for (const { host, ended } of open.splice(0)) {
      host.press("\u0015/quit\r");
      await ended;
    }
  });

  async function sitDown(session?: Session, columns = 80, at = platform) {
    const terminal = new TinyTerminal(columns, 24);
    const host = createFakeHost({ env: env(at), terminal });
    const ended = runCommand(host, "chat", ...(session ? [session.id] : []));
    const see = (text: string | RegExp) =>
      vi
        .waitUntil(() => terminal.text.match(text) !== null, PATIENT)
        .catch(() => {
          expect(terminal.text).toMatch(text);
        });
    open.push({ host, ended });
    await see(/\n› *$/);
    return { host, terminal, ended, see };
  }

  it("streams, shows the queue, and sends each prompt in its turn", async () => {
    const { host, terminal, see } = await sitDown(await platform.createSession());
    host.press("stream 60 20\r");
    await see("token5 ");
    host.press("say second\r");
    await see("⋯ say second");
    expect(terminal.text).toContain("working");
    await see(/token60\n\n› say second\nsecond\n/);
    await see(/ done · /);
    expect(terminal.text).not.toContain("⋯");
  });

  it("the first Ctrl-C stops the turn, the second leaves, and queued work continues", async () => {
    const session = await platform.createSession();
    const first = await sitDown(session);
    first.host.press("stream 5000 10\r");
    await first.see("token5 ");
    first.host.press(CTRL_C);
    await first.see("Stopping the turn; Ctrl-C again leaves.");
    await first.see("ended as aborted");
    first.host.press("stream 100 20\r");
    await first.see(/stream 100 20\ntoken1 token2 token3 /);
    first.host.press("/quit\r");
    expect(await first.ended).toBe(0);
    const again = await sitDown(session);
    await again.see("token100");
    again.host.press(CTRL_C);
    await again.see("No turn is running; Ctrl-C again leaves.");
    again.host.press(CTRL_C);
    expect(await again.ended).toBe(130);
  });

  it("asks in place, and reports an answer given elsewhere", async () => {
    const session = await platform.createSession({ runtime: "native" });
    const { host, see } = await sitDown(session);
    host.press(`${PUSH}\r`);
    await see("Allow bash?");
    await see("git push origin main || echo pushed");
    await see(/\n\? bash: git push origin main \|\| echo pushed\ny\/n\/always › *$/);
    host.press("yesterday\r");
    await see("Answer y or n");
    host.press("y\r");
    await see("Allowed.");
    await see(/\nall pushed\n/);
    host.press(`${PUSH}\r`);
    await see(/y\/n\/always › *$/);
    host.press("y");
    const asked = await platform.request<{ items: { id: string }[] }>(
      "GET",
      `/api/approvals?state=pending&session=${session.id}`,
    );
    await platform.request("POST", `/api/approvals/${asked.body.items[0]?.id}`, {
      decision: "deny",
    });
    await see("Not allowed.");
    await see(/ done · .*\n› *$/);
  });

  it("allows only calls that were shown to their end, and no call can forge another question", async () => {
    const session = await platform.createSession({ runtime: "native" });
    const { host, terminal, see } = await sitDown(session);
    const forged = "? Allow bash?\n  ls -la src\ny/n/always ›";
    const lines = Array.from({ length: 60 }, (_, at) => `echo ${at}`).join("\n");
    const command = `git push origin main\n${lines}\n${forged}`;
    host.press(`CALL bash ${JSON.stringify({ command })}\nSAY all pushed\r`);
    await see(/Allow bash\? \(64 lines, /);
    await see(/Enter: more \(16 of \d+ rows\) › *$/);
    host.press("y\r");
    await see("There is more");
    host.press("/allow\r");
    await see(/There is more[\s\S]*There is more/);
    expect(await pendingOf(session)).toHaveLength(1);
    host.press("\r");
    await see(/Enter: more \(32 of/);
    host.press("all\r");
    await see(/ {2}│ \? Allow bash\?\n {2}│ {3}ls -la src\n {2}│ y\/n\/always ›\n {2}└ the end/);
    await see(/y\/n\/always › *$/);
    host.press("y\r");
    await see(/answer: y \d+/);
    const [, rows] = /answer: y (\d+)/.exec(terminal.text) ?? [];
    expect(await pendingOf(session)).toHaveLength(1);
    host.press(`y ${rows}\r`);
    await see("Allowed.");
    await see(/\nall pushed\n/);
  });

  it("shows a call again after the window became narrower, before a yes counts", async () => {
    const session = await platform.createSession({ runtime: "native" });
    const { host, see } = await sitDown(session);
    host.press(`${PUSH}\r`);
    await see(/y\/n\/always › *$/);
    host.resize(30, 40);
    host.press("y\r");
    await see("here it is again");
    await see(/ {2}│ git push origin main \|\|\n? {2}┆ echo pushed/);
    expect(await pendingOf(session)).toHaveLength(1);
    host.press("y\r");
    await see("Allowed.");
  });

  it("keeps a draft while a question is asked", async () => {
    const session = await platform.createSession({ runtime: "native" });
    const { host, see } = await sitDown(session);
    host.press(`${PUSH}\r`);
    await see("⋯|› CALL");
    host.press("half a thought");
    await see(/y\/n\/always › *$/);
    host.press("n not now\r");
    await see("Not allowed.");
    await see(/› half a thought$/);
  });

  it("reconnects after the server was away, and misses nothing", async () => {
    const port = await freePort();
    const line = await createLine(port);
    const far = await startPlatform({
      env: { MUSTER_PORT: String(port), MUSTER_PUBLIC_URL: line.url },
    });
    const session = await far.createSession();
    const { host, terminal, ended, see } = await sitDown(session, 80, far);
    host.press("say before\r");
    await see(/\nbefore\n/);
    await line.cut();
    await see("The server does not answer.");
    await see("server offline");
    await fetch(`http://127.0.0.1:${port}/api/runs`, {
      method: "POST",
      headers: { authorization: `Bearer ${far.key}`, "content-type": "application/json" },
      body: JSON.stringify({
        type: "resume_session",
        sessionId: session.id,
        prompt: "say meanwhile",
        executionMode: "sync",
      }),
    });
    host.press("say after\r");
    await see("⋯ say after");
    await line.mend();
    await see(/\nmeanwhile\n(?:.*\n)*after\n/);
    await see(/ done · .*\n› *$/);
    for (const word of ["before", "meanwhile", "after"])
      expect(terminal.lines.filter((text) => text === word)).toHaveLength(1);
    host.press("/quit\r");
    await ended;
    await far.stop();
    await line.cut();
  });

  it("takes pasted text as one prompt, also in a narrow window", async () => {
    const { host, terminal, see } = await sitDown(await platform.createSession(), 24);
    host.press("\u001b[200~say a rather long line of words\r\nsay the second\u001b[201~");
    await see(/second$/);
    host.press("\r");
    await see("a rather long line of\nwords");
    host.resize(60, 10);
    await see(/ done · /);
    expect(terminal.lines.filter((line) => line.includes(" done · "))).toHaveLength(1);
  });

  it("lets no text of an agent control the terminal", async () => {
    const session = await platform.createSession();
    await platform.prompt(session.id, "say a\u001b[2J\u001b]0;title\u0007b\u009b31mc\u202ed");
    const other = await sitDown(session);
    await other.see(/\na<U\+001B>\[2J<U\+001B>\]0;title<U\+0007>b<U\+009B>31mc<U\+202E>d\n/);
  });

  it("shows the tree of an orchestrator, and switches to a child and back", async () => {
    const { host, see } = await sitDown();
    host.press(
      'CALL spawn_session {"title": "Helper", "prompt": "CALL bash {\\"command\\": \\"git push origin x || true\\"}"}\nSAY spawned\r',
    );
    await see("spawned");
    await see("Helper: started");
    await see("Helper: Allow bash?");
    host.press("/tree\r");
    await see(/└ 1 \? Helper {2}needs you/);
    host.press("/open 1\r");
    await see(/Helper · ses_\w+ · \/help/);
    await see(/\n\? Allow bash\?\n(?:.*\n)*y\/n\/always › *$/);
    host.press("y\r");
    await see("Allowed.");
    host.press("/back\r");
    await see("Helper: finished its turn");
  });
});

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}

/** A proxy in front of the server that can be cut and restored. */
async function createLine(to: number) {
  let server = createServer();
  let port = 0;
  const sockets = new Set<Socket>();
  const mend = () =>
    new Promise<void>((resolve) => {
      server = createServer((near) => {
        const far = connect(to, "127.0.0.1");
        for (const socket of [near, far]) {
          sockets.add(socket);
          socket.on("error", () => {});
          socket.on("close", () => {
            near.destroy();
            far.destroy();
          });
        }
        near.pipe(far).pipe(near);
      }).listen(port, "127.0.0.1", resolve);
    });
  await mend();
  port = (server.address() as AddressInfo).port;
  return {
    url: `http://127.0.0.1:${port}`,
    mend,
    cut: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
        sockets.clear();
      }),
  };
}

describe("sessions tree", () => {
  it("follows the sessions without polling", async () => {
    const parent = await platform.createSupervisor({ title: "Lead" });
    const child = await platform.createSession({ title: "Worker", parentSessionId: parent.id });
    const once = await inLines(["sessions", "tree", parent.id], {});
    expect(once.out).toMatch(/^· Lead {2}idle · .*\n└ · Worker {2}idle/);
    const host = createFakeHost({ env: env() });
    const watching = runCommand(host, "sessions", "tree", parent.id, "--watch", "--json");
    await vi.waitUntil(() => host.out.includes("Worker"), PATIENT);
    await platform.prompt(child.id, "say busy\nsleep 400\nsay done with it");
    await vi.waitUntil(() => host.out.includes('"activity":"working"'), PATIENT);
    const last = () => JSON.parse(host.out.trimEnd().split("\n").at(-1) ?? "").items[0];
    await expect
      .poll(() => last().children[0], PATIENT)
      .toMatchObject({ activity: "done", doing: "done with it" });
    await platform.request("POST", `/api/sessions/${child.id}/detach`);
    await expect.poll(() => last().children, PATIENT).toEqual([]);
    host.interrupt();
    expect(await watching).toBe(0);
    const words = ["sessions", "detach", child.id];
    expect((await inLines(words, {})).code).toBe(7);
    expect((await inLines(["sessions", "steer", child.id, "say", "turn"], {})).code).toBe(0);
    expect((await inLines(["sessions", "stop", "worker"], {})).code).toBe(0);
    const unasked = await inLines(["sessions", "end", "Worker"], { input: "" });
    expect(unasked).toMatchObject({ code: 2 });
    expect(unasked.err).toContain("--yes");
    const kept = await inLines(["sessions", "end", child.id.slice(-8), "--yes"], {});
    expect(kept).toMatchObject({ code: 0, out: `${child.id} has ended; it is kept for 7 days.\n` });
    expect((await inLines(["sessions", "tree", child.id], {})).out).toContain("archived");
    const forGood = ["sessions", "end", child.id, "--yes", "--for-good"];
    expect((await inLines(forGood, {})).code).toBe(0);
    const gone = await inLines(["sessions", "tree", child.id], {});
    expect(gone.out).toContain("terminated");
  });
});

it("redraws the tree in place, and no more of it than fits", async () => {
  const parent = await platform.createSupervisor({ title: "Lead" });
  const make = (title: string) => platform.createSession({ title, parentSessionId: parent.id });
  await make("One");
  const terminal = new TinyTerminal(40, 5);
  const host = createFakeHost({ env: env(), terminal });
  const watching = runCommand(host, "sessions", "tree", parent.id, "--watch");
  await vi.waitUntil(() => terminal.text.includes("One"), PATIENT);
  const two = await make("Two");
  await vi.waitUntil(() => /├ . One.*\n└ . Two/.test(terminal.text), PATIENT);
  expect(terminal.text.match(/Lead/g)).toHaveLength(1);
  host.resize(30, 5);
  for (const title of ["Three", "Four"]) await make(title);
  await platform.request("POST", `/api/sessions/${two.id}/terminate`, {});
  const titles = () => terminal.lines.map((line) => /[A-Z][a-z]+/.exec(line)?.[0]);
  await expect.poll(titles, PATIENT).toEqual(["Lead", "One", "Three", "Four", undefined]);
  host.interrupt();
  expect(await watching).toBe(0);
});

describe("the orchestrator", () => {
  it("can be shown and changed", async () => {
    expect((await inLines(["orchestrator", "wake"], {})).code).toBe(0);
    const named = await inLines(["orchestrator", "set", "--name", "Ada", "--style", "terse"], {});
    expect(named.out).toMatch(/name +Ada\n(?:.*\n)*style +terse/);
    expect((await inLines(["orchestrator"], {})).out).toMatch(/session +orchestrator:/);
    expect((await inLines(["orchestrator", "set"], {})).code).toBe(2);
    const wishes = ["orchestrator", "preferences", "--idle-minutes", "30", "--queue-mode", "steer"];
    expect((await inLines(wishes, {})).out).toMatch(/idle +30 minutes\nqueue mode +steer/);
    const back = ["orchestrator", "preferences", "--idle-minutes", "default", "--json"];
    expect(JSON.parse((await inLines(back, {})).out)).toMatchObject({
      idleTimeoutMs: null,
      queueMode: "steer",
    });
    expect((await inLines(["orchestrator", "restart"], {})).code).toBe(0);
  });
});

it("without a terminal, waits for delegated work unless it is told not to", async () => {
  model.play("lead", ({ userText, round }) => {
    if (userText.includes("[orchestration]")) return "SAY the helper counted 7";
    const brief = "LATE 1000\\nSAY counted 7";
    if (round === 0) return `CALL spawn_session {"title": "Helper", "prompt": "${brief}"}`;
    return "CALL wait_for_event {}";
  });
  const patient = await inLines(["chat"], { input: "PLAY lead\n" });
  expect(patient.code).toBe(0);
  expect(patient.out).toMatch(/\nthe helper counted 7\n$/);
  expect(patient.err).toContain("→ waiting for agents");
  const hasty = await inLines(["chat", "--no-wait"], { input: "PLAY lead\n" });
  expect(hasty.code).toBe(0);
  expect(hasty.out).not.toContain("counted");
}, 20_000);

/** The built program under a pseudo terminal, with real keys and a real Ctrl-C. */
const hasPseudoTerminal = spawnSync("script", ["--version"]).status === 0;
it.skipIf(!hasPseudoTerminal)(
  "works as built, on a real terminal (script of util-linux)",
  async () => {
    const session = await platform.createSession({ runtime: "native" });
    const program = join(import.meta.dirname, "../../../dist/muster.js");
    const command = `stty cols 80 rows 24; exec ${process.execPath} ${program} chat ${session.id}`;
    const child = spawn("script", ["-qec", command, "/dev/null"], {
      env: { PATH: process.env.PATH, TERM: "xterm", NO_COLOR: "1", ...env() },
    });
    const terminal = new TinyTerminal(80, 24);
    child.stdout.setEncoding("utf8").on("data", (text: string) => terminal.write(text));
    const ended = new Promise<number | null>((resolve) => child.on("close", resolve));
    const see = (text: string | RegExp) =>
      vi
        .waitUntil(() => terminal.text.match(text) !== null, PATIENT)
        .catch(() => {
          expect(terminal.text).toMatch(text);
        });
    try {
      await see(/\n› *$/);
      child.stdin.write(`${PUSH}\r`);
      await see(/y\/n\/always › *$/);
      child.stdin.write("y\r");
      await see(/\nall pushed\n/);
      child.stdin.write("SAY a longer answer in pieces\nFAULT stall\r");
      await see(/\na longer answer/);
      child.stdin.write(CTRL_C);
      await see("Stopping the turn");
      await see("ended as aborted");
      child.stdin.write(CTRL_C);
      expect(await ended).toBe(130);
    } finally {
      child.kill("SIGKILL");
    }
  },
  40_000,
);

/**
 * Contract of every sandbox. A kind's test calls `testSandbox`, and names what the kind cannot do
 * and why.
 */
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { collectText } from "./collect-text.ts";
import {
  DEFAULT_LIMITS,
  type Sandbox,
  type SandboxCommand,
  type SandboxProvider,
  type SandboxSpec,
} from "./sandbox.ts";

export interface SandboxCase {
  name: string;
  create(): SandboxProvider;
  skip?: { reason: string; tests: string[] }[];
}

const MB = 1024 ** 2;

export function testSandbox({ name, create, skip = [] }: SandboxCase): void {
  const skipped = new Set(skip.flatMap(({ tests }) => tests));
  const rule = (title: string, check: () => Promise<void>, timeoutMs = 15_000) => {
    it.skipIf(skipped.has(title))(title, check, timeoutMs);
  };
  const folder = mkdtempSync(join(tmpdir(), "muster-sandbox-"));
  const opened: Sandbox[] = [];
  let count = 0;

  async function open(more: Partial<SandboxSpec> = {}) {
    const top = join(folder, String(count++));
    const workspaceFolder = join(top, "work");
    mkdirSync(workspaceFolder, { recursive: true });
    const sandbox = await create().open({
      workspaceFolder,
      scratchFolder: join(top, "scratch"),
      allowedHosts: [],
      limits: DEFAULT_LIMITS,
      ...more,
    });
    opened.push(sandbox);
    return { sandbox, workspaceFolder };
  }

  async function sh(sandbox: Sandbox, script: string, more: Partial<SandboxCommand> = {}) {
    const running = sandbox.run({ argv: ["/bin/sh", "-c", script], ...more });
    running.stdin.end();
    const [stdout, stderr, end] = await Promise.all([
      collectText(running.stdout),
      collectText(running.stderr),
      running.ended,
    ]);
    return { stdout, stderr, ...end };
  }

  /** Processes of the whole machine that have `words` in their command line. */
  const alive = (words: string) =>
    readdirSync("/proc").filter((pid) => {
      if (!/^\d+$/.test(pid)) return false;
      try {
        return readFileSync(`/proc/${pid}/cmdline`, "latin1").replaceAll("\0", " ").includes(words);
      } catch {
        return false;
      }
    });

  /** A sleep with a unique duration, so that it can be found. */
  const nap = () => `sleep ${1000 + Math.floor(Math.random() * 1e9)}.5`;
  const napping = (words: string) =>
    expect.poll(() => alive(words).length, { timeout: 5000, interval: 10 }).toBeGreaterThan(0);

  describe(`${name} as a sandbox`, () => {
    afterAll(async () => {
      for (const sandbox of opened) await sandbox.close();
      rmSync(folder, { recursive: true, force: true });
    });

    rule("can be used on this machine, and says how limits are kept", async () => {
      const probe = await create().probe();
      expect(probe).toMatchObject({ usable: true, enforced: { fileBytes: expect.any(String) } });
    });

    rule("gives output, errors and the exit code", async () => {
      const { sandbox } = await open();
      expect(await sh(sandbox, "echo out; echo err >&2; exit 7")).toEqual({
        stdout: "out\n",
        stderr: "err\n",
        exitCode: 7,
        signal: null,
        killedBy: null,
      });
    });

    rule("runs several commands side by side", async () => {
      const { sandbox } = await open();
      const texts = await Promise.all([1, 2, 3, 4].map((n) => sh(sandbox, `echo ${n}`)));
      expect(texts.map(({ stdout }) => stdout)).toEqual(["1\n", "2\n", "3\n", "4\n"]);
    });

    rule("says when a program does not exist", async () => {
      const { sandbox } = await open();
      const running = sandbox.run({ argv: ["/no/such/program"] });
      running.stdout.resume();
      const [stderr, end] = await Promise.all([collectText(running.stderr), running.ended]);
      expect(end).toMatchObject({ killedBy: null });
      expect(end.exitCode).not.toBe(0);
      expect(stderr).toMatch(/no such file|not found/i);
    });

    rule("starts in the workspace, which is the folder outside", async () => {
      const { sandbox, workspaceFolder } = await open();
      writeFileSync(join(workspaceFolder, "given"), "given");
      const { stdout } = await sh(sandbox, "pwd; cat given; echo made > made");
      expect(stdout).toBe(`${sandbox.workspacePath}\ngiven`);
      expect(readFileSync(join(workspaceFolder, "made"), "utf8")).toBe("made\n");
    });

    rule("starts where it is told", async () => {
      const { sandbox, workspaceFolder } = await open();
      mkdirSync(join(workspaceFolder, "below"));
      const cwd = join(sandbox.workspacePath, "below");
      expect((await sh(sandbox, "pwd", { cwd })).stdout).toBe(`${cwd}\n`);
    });

    rule("has no environment but what it is given", async () => {
      process.env.MUSTER_CANARY = "canary-of-the-environment";
      try {
        const { sandbox } = await open();
        const { stdout } = await sh(sandbox, "env; cat /proc/self/environ", {
          env: { GIVEN: "with spaces\nand lines" },
        });
        expect(stdout).toContain("GIVEN=with spaces\nand lines");
        expect(stdout).toMatch(/^HOME=/m);
        expect(stdout).not.toContain("canary-of-the-environment");
      } finally {
        delete process.env.MUSTER_CANARY;
      }
    });

    rule("shows no environment in /proc either", async () => {
      process.env.MUSTER_CANARY = "canary-of-the-environment";
      try {
        const { sandbox } = await open();
        const { stdout } = await sh(sandbox, "cat /proc/[0-9]*/environ");
        expect(stdout).not.toContain("canary-of-the-environment");
      } finally {
        delete process.env.MUSTER_CANARY;
      }
    });

    rule("has no open file but the three", async () => {
      const { sandbox } = await open();
      // The fourth descriptor lists the folder; those that the runner itself was started with are
      // covered.
      const { stdout } = await sh(
        sandbox,
        "cd /proc/self/fd; for f in *; do readlink -n $f; echo; done",
      );
      const others = stdout
        .split("\n")
        .slice(3)
        .filter((to) => to && to !== "/dev/null");
      expect(others.filter((to) => !to.startsWith("/proc/"))).toEqual([]);
    });

    rule("reads what it is given", async () => {
      const { sandbox } = await open();
      const running = sandbox.run({ argv: ["cat"] });
      running.stderr.resume();
      running.stdin.end("to and fro");
      expect(await collectText(running.stdout)).toBe("to and fro");
      expect((await running.ended).exitCode).toBe(0);
    });

    rule("lets programs open what they write to by name", async () => {
      const { sandbox } = await open();
      const script = "cat; echo out > /dev/stdout; echo err | tee /dev/stderr";
      // Repeated, because pipes are used again.
      for (let i = 0; i < 6; i++) {
        const running = sandbox.run({ argv: ["/bin/sh", "-c", script] });
        running.stdin.end(`in ${i}\n`);
        const texts = await Promise.all([collectText(running.stdout), collectText(running.stderr)]);
        expect(texts).toEqual([`in ${i}\nout\nerr\n`, "err\n"]);
        expect((await running.ended).exitCode).toBe(0);
      }
    });

    rule("does not mind when a command spoils its own pipes", async () => {
      const { sandbox } = await open();
      for (let i = 0; i < 6; i++) await sh(sandbox, "chmod 000 /dev/stdout /dev/stderr");
      expect((await sh(sandbox, "echo fine")).stdout).toBe("fine\n");
    });

    rule("mixes no two commands up, however many run at once", async () => {
      const { sandbox } = await open();
      const numbers = Array.from({ length: 12 }, (_, i) => i);
      const all = await Promise.all(
        numbers.map((n) =>
          sh(sandbox, `head -c 200000 /dev/zero | tr '\\0' ${n % 10}; echo ${n} >&2`),
        ),
      );
      for (const [n, { stdout, stderr }] of all.entries()) {
        expect(stdout.slice(0, 60_000)).toBe(String(n % 10).repeat(60_000));
        expect(stderr).toBe(`${n}\n`);
      }
    });

    rule("does not mind when a command reads nothing", async () => {
      const { sandbox } = await open();
      const running = sandbox.run({ argv: ["true"] });
      running.stdout.resume();
      running.stderr.resume();
      running.stdin.write(Buffer.alloc(4 * MB));
      expect((await running.ended).exitCode).toBe(0);
    });

    rule("is killed by abort, with its children", async () => {
      const { sandbox } = await open();
      const words = nap();
      const abort = new AbortController();
      const running = sh(sandbox, `${words} & ${words}`, { signal: abort.signal });
      await napping(words);
      abort.abort();
      expect(await running).toMatchObject({ exitCode: null, killedBy: "abort" });
      expect(alive(words)).toEqual([]);
    });

    rule("does not run when aborted before", async () => {
      const { sandbox } = await open();
      const end = await sh(sandbox, nap(), { signal: AbortSignal.abort() });
      expect(end.killedBy).toBe("abort");
    });

    rule("is killed by kill", async () => {
      const { sandbox } = await open();
      const words = nap();
      const running = sandbox.run({ argv: ["/bin/sh", "-c", words] });
      running.stdout.resume();
      running.stderr.resume();
      await napping(words);
      running.kill();
      expect(await running.ended).toMatchObject({ killedBy: "abort" });
      expect(alive(words)).toEqual([]);
    });

    rule("is killed when its time is over, though it ignores signals", async () => {
      const { sandbox } = await open();
      const words = nap();
      const end = await sh(sandbox, `trap "" TERM INT HUP; while :; do ${words}; done`, {
        timeoutMs: 100,
      });
      expect(end).toMatchObject({ exitCode: null, killedBy: "timeout" });
      expect(alive(words)).toEqual([]);
    });

    rule("leaves no daemon behind", async () => {
      const { sandbox } = await open();
      const words = nap();
      const daemon = `setsid sh -c 'setsid ${words} </dev/null >/dev/null 2>&1 &' &`;
      const end = await sh(sandbox, `${daemon} sleep 0.05; exit 3`);
      expect(end).toMatchObject({ exitCode: 3, killedBy: null });
      expect(alive(words)).toEqual([]);
    });

    rule("ends though a child holds its output open", async () => {
      const { sandbox } = await open();
      const words = nap();
      expect(await sh(sandbox, `setsid ${words} & echo done`)).toMatchObject({ stdout: "done\n" });
      expect(alive(words)).toEqual([]);
    });

    rule("survives a fork bomb", async () => {
      const { sandbox } = await open({ limits: { ...DEFAULT_LIMITS, processes: 64 } });
      const words = nap();
      const bomb = `f() { ${words} & f & f; }; f; wait`;
      const end = await sh(sandbox, bomb, { timeoutMs: 500 });
      expect(end.killedBy ?? end.exitCode).not.toBe(0);
      expect(alive(words)).toEqual([]);
    });

    rule("allows no more processes than its limit", async () => {
      const { sandbox } = await open({ limits: { ...DEFAULT_LIMITS, processes: 20 } });
      const { stdout, killedBy } = await sh(
        sandbox,
        "i=0; while [ $i -lt 60 ]; do sleep 5 & i=$((i+1)); done; sleep 1; echo reached; kill 0",
        { timeoutMs: 8000 },
      );
      if (killedBy !== "processes") expect(stdout).not.toContain("reached");
    });

    rule("ends a command that takes too much memory", async () => {
      const { sandbox } = await open({ limits: { ...DEFAULT_LIMITS, memoryBytes: 64 * MB } });
      const eater = `exec perl -e '$x .= "x" x 1048576 while 1'`;
      const end = await sh(sandbox, eater, { timeoutMs: 10_000 });
      expect(end).toMatchObject({ exitCode: null, killedBy: "memory" });
    });

    rule("allows no file larger than its limit", async () => {
      const { sandbox, workspaceFolder } = await open({
        limits: { ...DEFAULT_LIMITS, fileBytes: MB },
      });
      const end = await sh(
        sandbox,
        "head -c 3000000 /dev/zero > big; ls -l /proc/self/fd >&2; exit 9",
      );
      expect(end.exitCode).toBe(9);
      expect(readFileSync(join(workspaceFolder, "big")).length).toBe(MB);
    });

    rule(
      "streams much without keeping it",
      async () => {
        const { sandbox } = await open();
        const running = sandbox.run({ argv: ["head", "-c", String(256 * MB), "/dev/zero"] });
        running.stderr.resume();
        let bytes = 0;
        let most = 0;
        for await (const chunk of running.stdout as AsyncIterable<Buffer>) {
          bytes += chunk.length;
          most = Math.max(most, process.memoryUsage.rss());
        }
        const before = process.memoryUsage.rss();
        expect(bytes).toBe(256 * MB);
        expect(most).toBeLessThan(before + 100 * MB);
        expect((await running.ended).exitCode).toBe(0);
      },
      60_000,
    );

    rule("ends everything when it is closed", async () => {
      const { sandbox } = await open();
      const words = nap();
      const running = [1, 2].map(() => sh(sandbox, words));
      await napping(words);
      await sandbox.close();
      expect(alive(words)).toEqual([]);
      for (const end of await Promise.all(running)) expect(end.killedBy).toBe("abort");
      expect(() => sandbox.run({ argv: ["true"] })).toThrow(/closed/);
    });

    rule("keeps home and /tmp from command to command", async () => {
      const { sandbox } = await open();
      await sh(sandbox, "echo a > ~/kept; echo b > $TMPDIR/kept");
      expect((await sh(sandbox, "cat ~/kept $TMPDIR/kept")).stdout).toBe("a\nb\n");
    });

    rule("shows the system, and none of it can be written", async () => {
      const { sandbox } = await open();
      const { stdout } = await sh(
        sandbox,
        "ls /usr/bin/env; for f in / /usr /etc /bin /proc /dev; do touch $f/x 2>/dev/null && echo wrote $f; done; true",
      );
      expect(stdout).toBe("/usr/bin/env\n");
    });

    rule("sees nothing else of the machine", async () => {
      const { sandbox } = await open();
      const canary = join(folder, "canary");
      writeFileSync(canary, "canary");
      const { stdout } = await sh(sandbox, `cat ${canary}; ls /root /home /var; cat /etc/shadow`);
      expect(stdout).not.toContain("canary");
      expect(stdout).not.toMatch(/^root:/m);
    });

    rule("shows more of the machine, read-only, when told to", async () => {
      const more = join(folder, "more");
      mkdirSync(more, { recursive: true });
      writeFileSync(join(more, "file"), "seen");
      const { sandbox } = await open({ readOnly: [{ from: more, to: "/opt/more" }] });
      const { stdout } = await sh(sandbox, "cat /opt/more/file; echo x > /opt/more/file");
      expect(stdout).toBe("seen");
      expect(readFileSync(join(more, "file"), "utf8")).toBe("seen");
    });

    rule("shows the workspace read-only when told to", async () => {
      const { sandbox, workspaceFolder } = await open({ workspaceReadOnly: true });
      expect((await sh(sandbox, "touch x")).exitCode).not.toBe(0);
      expect(readdirSync(workspaceFolder)).toEqual([]);
    });

    rule("begins in no other folder than the one that was meant", async () => {
      const secret = join(folder, "secret-folder");
      mkdirSync(secret, { recursive: true });
      writeFileSync(join(secret, "file"), "canary");
      const [work, more] = [join(folder, "meant"), join(folder, "meant-too")];
      for (const made of [work, more]) mkdirSync(made);
      const identityOf = (path: string) => {
        const { dev, ino } = statSync(path, { bigint: true });
        return `${dev}:${ino}`;
      };
      const { sandbox } = await open({
        workspaceFolder: work,
        workspaceIdentity: identityOf(work),
        readOnly: [{ from: more, to: "/opt/more", identity: identityOf(more) }],
      });
      const look = () => sh(sandbox, 'cat file /opt/more/file 2>/dev/null; echo "$0 ran"');
      expect((await look()).stdout).toBe("/bin/sh ran\n");
      for (const replaced of [work, more]) {
        renameSync(replaced, `${replaced}-away`);
        symlinkSync(secret, replaced);
        expect(await look()).toMatchObject({
          stdout: "",
          stderr: expect.stringContaining("was replaced"),
          exitCode: 126,
        });
        rmSync(replaced);
        renameSync(`${replaced}-away`, replaced);
      }
      expect((await look()).stdout).toBe("/bin/sh ran\n");
    });

    rule("has no network", async () => {
      const { sandbox } = await open();
      const { stdout } = await sh(sandbox, "cat /proc/net/dev | tail -n +3 | cut -d: -f1");
      expect(stdout.trim()).toBe("lo");
    });
  });
}

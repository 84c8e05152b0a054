import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  createCaller,
  type FakeWorkspace,
  findSandboxKinds,
  openFakeWorkspace,
} from "../fake-workspace.ts";
import { createRunnerTools } from "../runner-tools.ts";

const kinds = await findSandboxKinds();

describe.each(kinds)("bash, %s", (kind) => {
  let workspace: FakeWorkspace;
  const tools = createRunnerTools();
  const top = () => workspace.sandbox.workspacePath;
  const bash = (command: string, more: object = {}, sessionId?: string) =>
    createCaller(tools, workspace)("bash", { command, ...more }, sessionId ? { sessionId } : {});

  beforeAll(async () => {
    workspace = await openFakeWorkspace(kind);
  });
  afterAll(async () => {
    await tools.close();
    await workspace[Symbol.asyncDispose]();
  });

  it("gives output and errors in the order they were written, and the exit code", async () => {
    const outcome = await bash("echo one; echo two >&2; echo three; exit 3");
    expect(outcome).toEqual({
      output: "one\ntwo\nthree\n",
      exitCode: 3,
      error: "The command ended with exit code 3.",
    });
    expect(await bash("true")).toEqual({ output: "", exitCode: 0, error: null });
  });

  it("sees no arguments, no input and the right line in error messages", async () => {
    const { output } = await bash('echo "$# [$*]"; cat; nosuchthing\nnorthis');
    expect(output).toContain("0 []");
    expect(output).toMatch(/line 1: nosuchthing/);
    expect(output).toMatch(/line 2: northis/);
  });

  it("reports a syntax error as the shell does", async () => {
    const { output, exitCode } = await bash("if then");
    expect(output).toMatch(/syntax error/);
    expect(exitCode).toBe(2);
  });

  it("runs commands that are longer than an argument may be", async () => {
    const { output, error } = await bash(`echo '${"ä".repeat(90_000)}' | wc -c; cat`);
    expect({ output: output.trim(), error }).toEqual({ output: "180001", error: null });
  });

  it("refuses a NUL character", async () => {
    expect((await bash("echo \0")).error).toMatch(/NUL/);
  });

  describe("keeps the working directory", () => {
    it.each([
      ["plain", "mkdir -p a && cd a", "TOP/a"],
      ["exit", "mkdir -p b && cd b && exit 4", "TOP/b"],
      ["a failing command", "mkdir -p c; cd c; false", "TOP/c"],
      ["set -eu", "set -eu; mkdir -p d; cd d; echo $nosuch", "TOP/d"],
      ["a trap of its own", "trap 'echo bye' EXIT; mkdir -p e; cd e", "TOP/e"],
      ["odd letters", `mkdir $'o\\'d$(x)\\n\\\\ "' && cd o*`, "TOP/o'd$(x)\n\\ \""],
      ["a name that is no text", "mkdir $'no\\xff' && cd no*", "TOP"],
      ["a newline at the end", "mkdir $'nl\\n' && cd nl*", "TOP/nl\n"],
      ["a name like an option", "mkdir -- -P && cd -- -P", "TOP/-P"],
      ["somewhere else", "cd /usr/bin", "/usr/bin"],
      ["a link", "mkdir l; ln -s l link; cd link", "TOP/l"],
      ["pwd redefined", "pwd() { echo /etc; }; printf() { :; }; mkdir f; cd f", "TOP/f"],
    ])("after %s", async (name, command, expected) => {
      await bash(command, {}, `ses_${name}`);
      const { output } = await bash("pwd -P | od -An -v -tx1", {}, `ses_${name}`);
      const bytes = Buffer.from(output.replaceAll(/\s/g, ""), "hex");
      expect(bytes.toString("latin1")).toBe(`${expected.replace("TOP", top())}\n`);
    });

    it("for each session by itself", async () => {
      await bash("mkdir -p mine && cd mine", {}, "ses_a");
      expect((await bash("pwd", {}, "ses_a")).output).toBe(`${top()}/mine\n`);
      expect((await bash("pwd", {}, "ses_b")).output).toBe(`${top()}\n`);
      await tools.endSession("ses_a");
      expect((await bash("pwd", {}, "ses_a")).output).toBe(`${top()}\n`);
    });

    it("and says so when it is gone", async () => {
      await bash("mkdir -p gone && cd gone", {}, "ses_g");
      await bash("rm -r ../gone", {}, "ses_g");
      const { output, error } = await bash("echo ran", {}, "ses_g");
      expect(output).toContain(`The working directory ${top()}/gone is gone, so nothing was run.`);
      expect(output).not.toContain("ran\n");
      expect(error).toContain("exit code 1");
      expect((await bash("pwd", {}, "ses_g")).output).toBe(`${top()}\n`);
    });

    it("and believes nothing that is no path", async () => {
      await bash("printf 'junk' >&231; head -c 3000000 /dev/zero >&231; exec 231>&-", {}, "ses_j");
      expect((await bash("pwd", {}, "ses_j")).output).toBe(`${top()}\n`);
    });
  });

  it("kills what takes too long, and says what to do", async () => {
    const { error, output } = await bash("echo begun; sleep 300", { timeoutMs: 300 });
    expect(error).toMatch(/killed after 0\.3 s.*background: true/);
    expect(output).toBe("begun\n");
  });

  it("stops when it is told to", async () => {
    const abort = new AbortController();
    const running = createCaller(tools, workspace)(
      "bash",
      { command: "echo begun; sleep 300" },
      { signal: abort.signal, progress: () => abort.abort() },
    );
    expect((await running).error).toMatch(/stopped/);
    const late = await createCaller(tools, workspace)(
      "bash",
      { command: "touch must-not-exist" },
      { signal: abort.signal },
    );
    expect(late.error).toMatch(/before it started/);
    expect(existsSync(join(workspace.folder, "must-not-exist"))).toBe(false);
  });

  it("shows progress in whole characters", async () => {
    const shown: string[] = [];
    await createCaller(tools, workspace)(
      "bash",
      { command: "printf '\\xe2\\x82'; sleep 0.05; printf '\\xac!'" },
      { progress: (text) => shown.push(text) },
    );
    expect(shown.join("")).toBe("€!");
  });

  it("spills long output to a file that the agent can read", async () => {
    const { output, spilled } = await bash("seq 1 100000");
    const path = `${workspace.scratchPath}/muster-output/call_1.txt`;
    expect(spilled).toEqual({ path, bytes: 588895 });
    expect(output.length).toBeLessThan(61_000);
    expect(output).toMatch(/^1\n2\n/);
    expect(output).toMatch(/\n99999\n100000\n$/);
    expect(output).toContain(` of 588895 bytes left out; all of it can be read in ${path} …]\n`);
    expect((await bash(`wc -l < ${path}`)).output.trim()).toBe("100000");
    const read = await createCaller(tools, workspace)("read", { path, offset: 50_000, limit: 1 });
    expect(read.output).toMatch(/^ 50000\t50000\n/);
    const again = await bash("seq 1 100000");
    expect(again.spilled?.path).toMatch(/call_1-[0-9a-f]{12}\.txt$/);
  });

  it("does not spill through a link that the agent laid", async () => {
    const outside = join(workspace.machineFolder, "outside");
    await bash("cd $TMPDIR; rm -rf muster-output; ln -s ../../outside muster-output");
    const { output, spilled } = await bash("seq 1 100000");
    expect(spilled).toBeUndefined();
    expect(output).toMatch(/bytes left out …\]/);
    expect(existsSync(outside)).toBe(false);
    await bash("rm $TMPDIR/muster-output");
  });

  it.skipIf(kind !== kinds[0])(
    "keeps memory flat for 2 GB of output",
    async () => {
      await bash("seq 1 100000"); // Allocates what is needed once.
      let highest = 0;
      const before = process.memoryUsage().rss;
      const watch = setInterval(() => {
        highest = Math.max(highest, process.memoryUsage().rss);
      }, 5);
      const { output, spilled, error } = await bash("head -c 2G /dev/zero");
      clearInterval(watch);
      expect(error).toBeNull();
      expect(output).toMatch(/of 2147483648 bytes left out; the first 67108864 bytes of it/);
      const file = join(
        workspace.scratchFolder,
        "muster-output",
        spilled?.path.split("/").at(-1) ?? "",
      );
      expect(statSync(file).size).toBe(64 * 1024 ** 2);
      expect(readFileSync(file).every((byte) => byte === 0)).toBe(true);
      expect(highest - before).toBeLessThan(256 * 1024 ** 2);
    },
    60_000,
  );
});

describe.each(kinds)("background processes, %s", (kind) => {
  let workspace: FakeWorkspace;
  const tools = createRunnerTools();
  const call = (name: string, input: object, sessionId = "ses_bg") =>
    createCaller(tools, workspace)(name, input, { sessionId });
  const start = (command: string, sessionId?: string) =>
    call("bash", { command, background: true }, sessionId);

  beforeAll(async () => {
    workspace = await openFakeWorkspace(kind);
  });
  afterAll(async () => {
    await tools.close();
    await workspace[Symbol.asyncDispose]();
  });

  it("start, are read piece by piece, and are killed", async () => {
    await call("bash", { command: "mkdir -p sub && cd sub" });
    const started = await start(
      "pwd; echo err >&2; while [ ! -e go ]; do sleep 0.02; done; echo on; sleep 300",
    );
    expect(started.output).toMatch(/as bg_1\./);
    let text = "";
    await expect
      .poll(async () => (text += (await call("processes", { action: "read", id: "bg_1" })).output))
      .toContain(`${workspace.sandbox.workspacePath}/sub\nerr\n`);
    await call("bash", { command: "touch go" });
    text = "";
    await expect
      .poll(async () => (text += (await call("processes", { action: "read", id: "bg_1" })).output))
      .toMatch(/on\n/);
    expect(text).not.toContain("err");
    const { output } = await call("processes", { action: "list" });
    expect(output).toMatch(/^bg_1: running: pwd; echo err/);
    const killed = await call("processes", { action: "kill", id: "bg_1" });
    expect(killed.output).toMatch(/^Killed\. bg_1: ended by SIGKILL/);
    expect((await call("processes", { action: "kill", id: "bg_1" })).output).toMatch(
      /already ended/,
    );
  });

  it("tell how they ended", async () => {
    await start("echo last; exit 7", "ses_end");
    await expect
      .poll(async () => (await call("processes", { action: "list" }, "ses_end")).output)
      .toMatch(/ended with exit code 7/);
    const { output } = await call("processes", { action: "read", id: "bg_1" }, "ses_end");
    expect(output).toBe("bg_1: ended with exit code 7. New output:\nlast\n");
  });

  it("keep the last of what nobody read", async () => {
    await start("seq 1 100000; echo fin", "ses_much");
    await expect
      .poll(async () => (await call("processes", { action: "list" }, "ses_much")).output)
      .toMatch(/ended/);
    const { output } = await call("processes", { action: "read", id: "bg_1" }, "ses_much");
    expect(output).toMatch(/\[… \d+ bytes before this were not kept …\]\n\d+\n/);
    expect(output).toMatch(/100000\nfin\n$/);
    expect(output.length).toBeLessThan(61_000);
  });

  it("are at most 16, each session's own, and end with it", async () => {
    for (let i = 0; i < 16; i++) expect((await start("sleep 300", "ses_many")).error).toBeNull();
    expect((await start("sleep 300", "ses_many")).error).toMatch(/Kill one first/);
    expect((await start("true", "ses_other")).error).toBeNull();
    expect((await call("processes", { action: "read", id: "bg_9" }, "ses_other")).error).toMatch(
      /ended with its runner/,
    );
    await call("processes", { action: "kill", id: "bg_3" }, "ses_many");
    expect((await start("sleep 300", "ses_many")).output).toMatch(/bg_17/);
    await tools.endSession("ses_many");
    expect((await call("processes", { action: "list" }, "ses_many")).output).toMatch(
      /^There are no/,
    );
  });

  it("say that the session's sleep ended them, and keep their numbers", async () => {
    await start("sleep 300", "ses_sleep");
    await start("exit 0", "ses_sleep");
    await expect
      .poll(async () => (await call("processes", { action: "list" }, "ses_sleep")).output)
      .toContain("bg_2: ended");
    await tools.rest("ses_sleep");
    // The server repeats that a session rests.
    await tools.rest("ses_sleep");
    expect(tools.takeEndedByRest("ses_sleep")).toEqual([{ id: "bg_1", command: "sleep 300" }]);
    expect(tools.takeEndedByRest("ses_sleep")).toEqual([]);
    const listed = await call("processes", { action: "list" }, "ses_sleep");
    expect(listed.output).toBe("bg_1: ended when the session went to sleep: sleep 300");
    for (const action of ["read", "kill"])
      expect((await call("processes", { action, id: "bg_1" }, "ses_sleep")).error).toMatch(
        /bg_1 ended when the session went to sleep/,
      );
    expect((await start("sleep 300", "ses_sleep")).output).toMatch(/bg_3/);
    const both = await call("processes", { action: "list" }, "ses_sleep");
    expect(both.output).toMatch(/^bg_1: ended when .*\nbg_3: running/);
    await tools.endSession("ses_sleep");
    expect((await call("processes", { action: "list" }, "ses_sleep")).output).toMatch(
      /^There are no/,
    );
    expect((await call("processes", { action: "read", id: "bg_1" }, "ses_sleep")).error).toMatch(
      /ended with its runner, before the session last slept, or long ago/,
    );
  });

  it("need an id to be read or killed", async () => {
    expect((await call("processes", { action: "kill" })).error).toMatch(/by its id/);
  });
});

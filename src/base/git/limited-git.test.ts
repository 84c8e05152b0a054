import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { gitEnv } from "./git-env.ts";
import { GIT_NOT_FOUND, isLimitError, type LimitedGitCall, runLimitedGit } from "./limited-git.ts";

const PATH = process.env.PATH ?? "";
/** Git runs a line of shell, as it runs its own programs. */
const run = (line: string, more: Partial<LimitedGitCall> = {}) =>
  runLimitedGit({
    args: ["-c", `alias.x=!${line}`, "x"],
    cwd: "/",
    env: { PATH, ...gitEnv({ protocols: [] }) },
    limits: { fileBytes: 1024 * 512, memoryBytes: 1024 ** 3 },
    maxBytes: 1_000,
    ...more,
  });

/** One that is dead and not yet collected is not. */
function isAlive(pid: string): boolean {
  try {
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}

describe("git with limits", () => {
  it("has them on the size of files and on memory, and so has all it starts", async () => {
    const { stdout, exitCode } = await run("ulimit -f; ulimit -v; ulimit -c");
    expect(exitCode).toBe(0);
    expect(stdout.toString().trim().split("\n")).toEqual(["1024", String(1024 ** 2), "0"]);
  });

  it("cannot write a file that is larger than it may be", async () => {
    const folder = mkdtempSync(join(tmpdir(), "muster-limited-"));
    const { exitCode } = await run("head -c 600000 /dev/zero > large", { cwd: folder });
    expect(exitCode).not.toBe(0);
    expect(statSync(join(folder, "large")).size).toBeLessThanOrEqual(512 * 1024);
    rmSync(folder, { recursive: true });
    expect(isLimitError("fatal: fetch-pack: invalid index-pack output")).toBe(true);
    expect(isLimitError("fatal: repository not found")).toBe(false);
  });

  it("reads from a pipe what is in no command line and no environment", async () => {
    const { stdout } = await run("cat <&3", { pipe: "user=x\n" });
    expect(stdout.toString()).toBe("user=x\n");
  });

  it.each(["signal", "time"] as const)("is ended by %s, with all it has started", async (why) => {
    const folder = mkdtempSync(join(tmpdir(), "muster-limited-"));
    const stop = new AbortController();
    const more = why === "time" ? { timeoutMs: 2_000 } : { signal: stop.signal };
    const running = run("sleep 60 & echo $! > made; mv made pid; wait", { cwd: folder, ...more });
    await expect.poll(() => existsSync(join(folder, "pid"))).toBe(true);
    const pid = readFileSync(join(folder, "pid"), "utf8").trim();
    expect(isAlive(pid)).toBe(true);
    stop.abort();
    expect(await running).toMatchObject({ ended: why, exitCode: null });
    await expect.poll(() => isAlive(pid)).toBe(false);
    rmSync(folder, { recursive: true });
  });

  it("does not begin when it is stopped already", async () => {
    const { ended } = await run("sleep 60", { signal: AbortSignal.abort() });
    expect(ended).toBe("signal");
  });

  it("is ended when it says too much", async () => {
    expect(await run("yes")).toMatchObject({ ended: "size" });
  });

  it("says when there is none", async () => {
    expect(await run("true", { env: { PATH: "/nonexistent" } })).toMatchObject({
      exitCode: GIT_NOT_FOUND,
    });
  });
});

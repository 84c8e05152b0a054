/** One agent fills the disk that the server, the runner and everyone else share. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Prompt } from "#protocol/sessions.ts";
import { type ModelServer, startModelServer } from "#test/model-server/model-server.ts";
import { type Platform, startPlatform } from "#test/platform.ts";
import { bubblewrapFile } from "#test/services/bubblewrap.ts";

const MOUNT = "/bin/mount";
const UMOUNT = "/bin/umount";
const LIMIT_MS = 90_000;
const TURNS = 8;
/** Writes some hundred megabytes a second: a disk of 1 GiB would be full within seconds. */
const FILL = "n=0; while :; do head -c 4194304 /dev/zero >f$n; n=$((n+1)); sleep 0.01; done";

/** Mounts a disk for this test. Undefined where mounting is not allowed. */
function mountDisk(): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), "muster-small-disk-"));
  try {
    execFileSync(MOUNT, ["-t", "tmpfs", "-o", "size=1g,mode=700", "muster-test", folder]);
    return folder;
  } catch {
    rmSync(folder, { recursive: true });
    return undefined;
  }
}
const disk = bubblewrapFile ? mountDisk() : undefined;

describe.skipIf(!disk)("an agent that fills the shared disk", { timeout: LIMIT_MS }, () => {
  let platform: Platform;
  let model: ModelServer;
  beforeAll(async () => {
    model = await startModelServer();
    platform = await startPlatform({
      home: disk as string,
      env: {
        PATH: process.env.PATH,
        MUSTER_MODEL: "anthropic/claude-test",
        ANTHROPIC_API_KEY: "test-key",
        ANTHROPIC_BASE_URL: model.url,
      },
    });
  });
  afterAll(async () => {
    await platform.stop();
    await model.close();
    execFileSync(UMOUNT, ["-l", disk as string]);
    rmSync(disk as string, { recursive: true, force: true });
  });

  const bash = (command: string) => `CALL bash ${JSON.stringify({ command })}\nSAY done`;
  const begin = async (command: string): Promise<Prompt> => {
    const session = await platform.createSession({ runtime: "native" });
    return platform.prompt(session.id, bash(command));
  };
  const errorsOf = async ({ sessionId }: Prompt) =>
    (await platform.events(sessionId))
      .filter(({ type }) => type === "post_tool")
      .map((event) => JSON.stringify(event));

  it("is stopped, while another agent works on and the server stays ready", async () => {
    const victim = await platform.createSession({ runtime: "native" });
    const work = async (n: number) => {
      const prompt = await platform.prompt(victim.id, bash(`echo turn ${n} >>log; tail -1 log`));
      return platform.promptIn(prompt.id, "settled");
    };
    expect(await work(0)).toMatchObject({ outcome: "completed" });
    const attack = await begin(FILL);
    const ready: number[] = [];
    for (let n = 1; n <= TURNS; n++) {
      expect(await work(n)).toMatchObject({ outcome: "completed" });
      ready.push((await platform.request("GET", "/ready")).status);
    }
    expect(new Set(ready)).toEqual(new Set([200]));
    expect(await platform.promptIn(attack.id, "settled")).toMatchObject({ outcome: "completed" });
    expect((await errorsOf(attack)).join()).toContain("workspace_full");
    const lines = (await errorsOf({ ...attack, sessionId: victim.id })).join();
    for (let n = 0; n <= TURNS; n++) expect(lines).toContain(`turn ${n}`);
    expect(lines).not.toMatch(/workspace_full|disk_low/);
  });

  it("cannot fill it by trying again and again", async () => {
    const victim = await platform.createSession({ runtime: "native" });
    const before = await platform.prompt(victim.id, bash("echo before >log"));
    expect(await platform.promptIn(before.id, "settled")).toMatchObject({ outcome: "completed" });
    for (let n = 0; n < 3; n++) {
      const again = await begin(FILL);
      // Ended by the guard, or refused because this person has used up their quota.
      await platform.promptIn(again.id, "settled");
      expect((await platform.request("GET", "/ready")).status).toBe(200);
    }
    const after = await platform.prompt(victim.id, bash("cat log"));
    expect(await platform.promptIn(after.id, "settled")).toMatchObject({ outcome: "completed" });
    expect((await errorsOf(after)).join()).toContain("before");
  });
});

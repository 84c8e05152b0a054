import { spawn } from "node:child_process";
import { describe, expect, it } from "vitest";
import { createTreeMark, findMarked, signalTree } from "./process-tree.ts";

describe.skipIf(process.platform !== "linux")("a process tree", () => {
  it("ends with everything it started, also what left its group", async () => {
    const mark = createTreeMark();
    const child = spawn(
      "sh",
      ["-c", "setsid sleep 300 & (setsid sh -c 'sleep 300 & sleep 300') & sleep 300"],
      {
        detached: true,
        stdio: "ignore",
        env: { PATH: process.env.PATH, [mark.name]: mark.value },
      },
    );
    await expect.poll(() => findMarked(mark).length).toBeGreaterThanOrEqual(5);
    signalTree(child.pid as number, mark, "SIGKILL");
    await expect.poll(() => findMarked(mark)).toEqual([]);
  });
});

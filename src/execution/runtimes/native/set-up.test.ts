import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { Refusal } from "#base/refusal.ts";
import type { Workspace } from "#execution/workspaces/workspace.ts";
import { FakeTurn } from "../fake-turn.ts";
import { fakeWorkspaces } from "./fake-native.ts";
import { setUp } from "./set-up.ts";

const top = mkdtempSync(join(tmpdir(), "muster-set-up-"));
afterAll(() => rmSync(top, { recursive: true, force: true }));

/** A workspace whose commands are ended at once, and that accepts no more files. */
async function fullWorkspace(by: "quota" | "disk"): Promise<Workspace> {
  const { workspace } = await fakeWorkspaces(mkdtempSync(join(top, "w-")));
  const { sandbox } = workspace;
  return {
    ...workspace,
    sandbox: {
      ...sandbox,
      run(command) {
        const running = sandbox.run(command);
        running.kill(by, "there is no more room");
        return running;
      },
    },
    meter: {
      async require() {
        throw new Refusal("conflict", "workspace_full", "full");
      },
      note() {},
    },
  };
}

const setup = { command: "sleep 60", redact: (text: string) => text };

it("goes on without it when the setup command fills the workspace, and does not repeat it", async () => {
  const workspace = await fullWorkspace("quota");
  const turn = new FakeTurn();
  await setUp(turn, workspace, setup);
  expect(turn.items).toMatchObject([
    { type: "notice", text: expect.stringContaining("there is no more room") },
  ]);
  const later = new FakeTurn();
  await setUp(later, workspace, setup);
  expect(later.items).toEqual([]);
});

it("says so when the disk is full, and tries again in the next turn", async () => {
  const workspace = await fullWorkspace("disk");
  for (const turn of [new FakeTurn(), new FakeTurn()]) {
    await setUp(turn, workspace, setup);
    expect(turn.items).toMatchObject([
      { type: "notice", text: expect.stringContaining("there is no more room") },
    ]);
  }
  expect(existsSync(join(workspace.folder, ".muster"))).toBe(false);
});

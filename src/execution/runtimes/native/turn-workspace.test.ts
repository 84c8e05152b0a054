import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { systemClock } from "#base/clock.ts";
import { createIds } from "#base/ids.ts";
import { silentLog } from "#base/log.ts";
import { Refusal } from "#base/refusal.ts";
import { createLocal } from "#execution/sandboxes/local/local.ts";
import { DEFAULT_LIMITS } from "#execution/sandboxes/sandbox.ts";
import { createWorkspaces } from "#execution/workspaces/workspaces.ts";
import type { JournalItem } from "#protocol/events.ts";
import { storedRepositoryAddress } from "#protocol/names/repository-address.ts";
import { FakeTurn } from "../fake-turn.ts";
import { LeaseLost } from "../runtime.ts";
import { type FakeWorkspaces, fakeNative, fakeWorkspaces, NO_CHANGES } from "./fake-native.ts";
import type { ScriptedReply } from "./script-model.ts";
import { TurnWorkspace } from "./turn-workspace.ts";

const folder = mkdtempSync(join(tmpdir(), "muster-turn-workspace-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let fake: FakeWorkspaces;
beforeEach(async () => {
  fake = await fakeWorkspaces(folder);
});

const work = (turn: FakeTurn, ...answers: ScriptedReply[]) =>
  turn.workOrPark(
    fakeNative((n) => answers[n - 1] ?? [{ text: "done" }], { workspaces: fake.workspaces })
      .runtime,
  );
const changed = { path: "a", status: "added" as const, additions: 1, deletions: 0 };
const write = { call: "write", input: { path: "a.txt", content: "x" } };
const written = (verdict: "allow" | "deny"): JournalItem[] => [
  {
    type: "pre_tool",
    entryId: "e1",
    step: 1,
    callId: "c1",
    tool: "write",
    input: {},
    verdict: { verdict, reason: null },
  },
  {
    type: "post_tool",
    entryId: "e2",
    step: 1,
    callId: "c1",
    tool: "write",
    input: {},
    output: "ok",
    error: null,
  },
];

describe("what a turn has changed", () => {
  it("is recorded after the last words are durable, so that they outlive it", async () => {
    const turn = new FakeTurn();
    let before: string[] = [];
    fake.workspace.changes = async () => {
      before = turn.items.map(({ type }) => type);
      return { turn: { ...NO_CHANGES, files: [changed as never] }, all: NO_CHANGES };
    };
    const end = await work(turn, [write]);
    expect(before.slice(-2)).toEqual(["message", "model_call"]);
    expect(end).toMatchObject({ outcome: "completed", items: [{ type: "workspace_changed" }] });
    expect(turn.items.filter(({ type }) => type === "message")).toHaveLength(1);
  });

  it("goes on from the last words when the runner was lost there", async () => {
    const turn = new FakeTurn();
    fake.workspace.changes = async () => {
      turn.kill();
      throw new LeaseLost("gone");
    };
    await work(turn, [write]);
    fake.workspace.changes = async () => {
      fake.acts.push("changes");
      return { turn: NO_CHANGES, all: NO_CHANGES };
    };
    const again = new FakeTurn({ fence: 2, journal: turn.items });
    expect(await work(again)).toMatchObject({ outcome: "completed", result: "done" });
    expect(again.acts).toEqual([]);
    expect(fake.acts).toContain("changes");
  });

  it("counts what earlier attempts did, on the machine that holds it", async () => {
    await work(new FakeTurn({ journal: written("allow") }));
    expect(fake.acts).toEqual([]);
    fake.held.add("ses_1");
    await work(new FakeTurn({ journal: written("deny") }));
    expect(fake.acts).toEqual([]);
    await work(new FakeTurn({ journal: written("allow") }));
    expect(fake.acts).toEqual(["open", "mark", "changes"]);
  });

  it("is all since the turn's first attempt, by real git", async () => {
    const store = await createWorkspaces({
      folder: mkdtempSync(join(folder, "shelf-")),
      sandboxProvider: createLocal({ path: "/usr/bin:/bin", controlGroups: null }),
      limits: DEFAULT_LIMITS,
      allowedHosts: [],
      clock: systemClock,
      ids: createIds(),
      log: silentLog,
    });
    const attempt = async (journal: JournalItem[], name: string) => {
      const one = new TurnWorkspace(new FakeTurn({ journal }), store, { add() {} });
      const workspace = await one.openFor("write");
      writeFileSync(join(workspace.folder, name), "1\n");
      const [item] = await one.changes();
      return item?.type === "workspace_changed" ? item.turn.files.map(({ path }) => path) : [];
    };
    expect(await attempt([], "a.txt")).toEqual(["a.txt"]);
    expect(await attempt(written("allow"), "b.txt")).toEqual(["a.txt", "b.txt"]);
    const idle = new TurnWorkspace(new FakeTurn({ journal: written("allow") }), store, {
      add() {},
    });
    expect(await idle.changes()).toMatchObject([{ turn: { additions: 2 } }]);
    // Another turn, whose first attempt was lost before it began.
    const next = new TurnWorkspace(
      new FakeTurn({ promptId: "pmt_2", journal: written("allow") }),
      store,
      { add() {} },
    );
    expect(await next.changes()).toEqual([]);
    await store.close();
  });

  it("is not looked for when the turn has only read or talked", async () => {
    writeFileSync(join(folder, "b.txt"), "b");
    const turn = new FakeTurn({ repository: { kind: "path", path: "/r" } });
    const end = await work(turn, [{ call: "read", input: { path: "b.txt" } }]);
    expect(fake.acts).toEqual(["open", "mark"]);
    // The model's text comes with the settlement.
    expect(end.items?.map(({ type }) => type)).toEqual(["message", "model_call"]);
  });
});

describe("a turn that is stopped while its repository is cloned", () => {
  it("ends as one that was stopped, and the clone is told", async () => {
    const turn = new FakeTurn({
      repository: storedRepositoryAddress("https://git.example/acme/app"),
    });
    fake.workspaces.open = ({ signal }) =>
      new Promise((_resolve, reject) => {
        const giveUp = () =>
          reject(new Refusal("unavailable", "workspace_clone_failed", "It was stopped."));
        signal?.addEventListener("abort", giveUp, { once: true });
        turn.cancel("stop");
      });
    expect(await work(turn)).toMatchObject({ outcome: "aborted" });
  });
});

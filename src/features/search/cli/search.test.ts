import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { SearchItem } from "#features/search/contract.ts";
import { createFakeHost, type FakeHostOptions, runCommand } from "#test/cli/fake-host.ts";
import { FakeServer, reply } from "#test/cli/fake-server.ts";

const PATH = "/api/search";
const item: SearchItem = {
  kind: "task",
  id: "tsk_1",
  title: "Feed the otter \u001b[31m",
  titleMatches: [[9, 14]],
  snippet: "…the otter is\thungry and\nwaits…",
  matches: [[5, 10]],
  score: 1.5,
  url: "/board/ses_1/tsk_1",
  at: new Date().toISOString(),
};

let server: FakeServer;
beforeEach(async () => {
  server = await new FakeServer().start();
});
afterEach(() => server.stop());

async function run(words: string[], options: FakeHostOptions = {}) {
  const host = createFakeHost({ env: server.env, ...options });
  const code = await runCommand(host, "search", ...words);
  return { code, out: host.out, err: host.err };
}
const answers = (items: SearchItem[]) =>
  server.answer("GET", PATH, (_seen, response) => reply(response, 200, { items, next: null }));

describe("muster search", () => {
  it("shows what was found, and nothing that commands the terminal", async () => {
    answers([item, { ...item, kind: "session", id: "ses_1", snippet: "", matches: [] }]);
    const { code, out } = await run(["hungry", "otter"]);
    expect(code).toBe(0);
    expect(out.split("\n")).toEqual([
      "task        Feed the otter <U+001B>[31m  tsk_1, just now",
      "            …the otter is hungry and waits…",
      "session     Feed the otter <U+001B>[31m  ses_1, just now",
      "",
    ]);
    expect(server.requests("GET", PATH).map(({ query }) => query)).toEqual([
      { q: "hungry otter", limit: "20" },
    ]);
  });

  it("narrows by kinds, and prints all of it for programs", async () => {
    answers([item]);
    const { out } = await run(["x", "--kinds", "task,message", "--limit", "3", "--json"]);
    expect(JSON.parse(out)).toEqual({ items: [item], next: null });
    expect(server.requests("GET", PATH)[0]?.query).toEqual({
      q: "x",
      kinds: "task,message",
      limit: "3",
    });
    for (const wrong of [
      ["--kinds", "tasks"],
      ["--limit", "0"],
    ])
      expect((await run(["x", ...wrong])).code).toBe(2);
    expect((await run([])).code).toBe(2);
  });

  it("says so when nothing was found", async () => {
    answers([]);
    expect((await run(["x"])).out).toContain("No matches");
  });
});

import { describe, expect, it } from "vitest";
import { callKey, childKeyOf, isForSandboxOnly, isSameProject } from "./standing-calls.ts";

const shown = (input: unknown, more: object = {}) =>
  JSON.stringify({ input, reason: "why (builtin:x)", cwd: null, ...more });
const sandboxed = { sandboxed: true };
const command = { command: "git push" };

describe("which approvals cover children", () => {
  it.each([
    ["a command in a sandbox", "bash", command, sandboxed, true],
    ["a command without a sandbox", "bash", command, { sandboxed: false }, false],
    ["a command of which nobody knows", "bash", command, {}, false],
    ["a command in another folder", "bash", command, { ...sandboxed, cwd: "/workspace/a" }, false],
    ["a command unwatched", "bash", { ...command, background: true }, sandboxed, false],
    ["a file", "write", { path: ".env", content: "x" }, {}, true],
    ["an address", "web_fetch", { url: "https://a.example/" }, {}, true],
    ["a push of the session's own branch", "push_branch", {}, {}, false],
    ["a push of a named branch", "push_branch", { branch: "a" }, {}, true],
    ["a pull request of its own branch", "create_pull_request", { title: "a" }, {}, false],
    ["a process by its id", "processes", { action: "kill", id: "p1" }, {}, false],
    ["a message", "mailbox_send", { to: "usr_1", content: "x" }, {}, false],
  ] as const)("%s", (_what, tool, input, more, covers) => {
    const call = { tool, target: "t", shown: shown(input, more) };
    expect(childKeyOf(call, "allow") !== null).toBe(covers);
    // A no covers every call of the target.
    expect(childKeyOf(call, "deny")).toBe("*");
  });
});

it.each([
  ["a command in a sandbox", "bash", { sandboxed: true }, true],
  ["a command without one", "bash", { sandboxed: false }, false],
  ["a command of which nobody knows", "bash", {}, false],
  ["a file", "write", {}, false],
] as const)("binds the yes to a sandbox: %s", (_what, tool, more, isBound) => {
  expect(isForSandboxOnly({ tool, target: "t", shown: shown(command, more) })).toBe(isBound);
});

describe("the key of a call", () => {
  const key = (tool: string, input: unknown, more: object = {}) =>
    callKey(tool, { input, reason: "a", cwd: null, ...more });
  it("is the same for the same call, in whatever order it is written", () => {
    expect(key("write", { path: "a", content: "b" })).toBe(
      key("write", { content: "b", path: "a" }),
    );
    expect(key("bash", { ...command, timeoutMs: 5 })).toBe(key("bash", command));
  });
  it.each([
    ["tool", key("read", { path: "a" })],
    ["argument", key("write", { path: "a", content: "c" })],
    ["folder", key("write", { path: "a" }, { cwd: "/workspace/b" })],
    ["danger", key("write", { path: "a" }, { reason: "b" })],
    ["sandbox", key("write", { path: "a" }, { sandboxed: false })],
    ["shape", key("write", { path: ["a"] })],
  ])("is another for another %s", (_what, other) => {
    expect(other).not.toBe(key("write", { path: "a" }));
  });
});

it("takes only the same files for the same project", () => {
  const own = { org_id: "o", owner_id: "u", repo: null, project_dir: null, hostname: "h" };
  expect(isSameProject(own, { ...own, hostname: "other" })).toBe(true);
  const cloned = { ...own, repo: "https://a.example/b.git" };
  expect(isSameProject(cloned, { ...cloned, hostname: "other" })).toBe(true);
  const folder = { ...own, project_dir: "/srv" };
  expect(isSameProject(folder, folder)).toBe(true);
  for (const other of [
    { ...folder, hostname: "other" },
    { ...folder, project_dir: null },
    { ...folder, repo: "https://a.example/b.git" },
    { ...folder, owner_id: "v" },
  ])
    expect(isSameProject(folder, other)).toBe(false);
});

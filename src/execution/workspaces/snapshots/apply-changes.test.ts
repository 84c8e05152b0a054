/** Changes that were recorded on one machine go into a new workspace on another. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { FakeClock } from "#base/clock.ts";
import { createIds } from "#base/ids.ts";
import { createBubblewrap } from "#execution/sandboxes/bubblewrap/bubblewrap.ts";
import { createLocal } from "#execution/sandboxes/local/local.ts";
import { DEFAULT_LIMITS, type SandboxProvider } from "#execution/sandboxes/sandbox.ts";
import { storedRepositoryAddress } from "#protocol/names/repository-address.ts";
import { bubblewrapFile } from "#test/services/bubblewrap.ts";
import type { Workspaces } from "../workspace.ts";
import { createWorkspaces } from "../workspaces.ts";
import { applyChanges } from "./apply-changes.ts";

const top = mkdtempSync(join(tmpdir(), "muster-put-changes-"));
const opened: Workspaces[] = [];
afterAll(async () => {
  for (const workspaces of opened) await workspaces.close();
  rmSync(top, { recursive: true, force: true });
});
const quiet = { debug() {}, info() {}, warn() {}, error() {}, child: () => quiet } as never;
let count = 0;

/** A runner of its own, as on another machine. */
async function machine(provider: SandboxProvider, below = top): Promise<Workspaces> {
  const folder = join(below, String(count++));
  mkdirSync(folder);
  const workspaces = await createWorkspaces({
    folder,
    sandboxProvider: provider,
    limits: DEFAULT_LIMITS,
    allowedHosts: [],
    clock: new FakeClock(),
    ids: createIds(),
    log: quiet,
  });
  opened.push(workspaces);
  return workspaces;
}

function makeRepository(): string {
  const folder = join(top, `repo-${count++}`);
  const script = `git init -q -b trunk "$1" && cd "$1" && printf 'one\\ntwo\\n' > a.txt &&
    echo gone > gone.txt && echo moved > old.txt && git add . && git commit -qm first`;
  const name = { GIT_AUTHOR_NAME: "a", GIT_COMMITTER_NAME: "a" };
  const mail = { GIT_AUTHOR_EMAIL: "a@b.invalid", GIT_COMMITTER_EMAIL: "a@b.invalid" };
  const env = { PATH: "/usr/local/bin:/usr/bin:/bin", ...name, ...mail };
  execFileSync("sh", ["-c", script, "sh", folder], { env });
  return folder;
}

const request = (repo: string | null) => ({
  sessionId: "ses_1",
  repository: repo === null ? null : storedRepositoryAddress(repo),
  branch: null,
  projectDir: null,
  mayUsePath: true,
});
const signal = new AbortController().signal;

const providers: [string, () => SandboxProvider][] = [
  ["local", () => createLocal({ path: "/usr/local/bin:/usr/bin:/bin" })],
  ...(bubblewrapFile
    ? ([
        [
          "bubblewrap",
          () =>
            createBubblewrap({
              folder: join(top, "sandboxes"),
              path: "",
              bwrapFile: bubblewrapFile as string,
            }),
        ],
      ] as [string, () => SandboxProvider][])
    : []),
];

describe.each(providers)("recorded changes in %s", (_name, provider) => {
  it("are in the clone of another machine, and count as changes there", async () => {
    const repo = makeRepository();
    const before = await (await machine(provider())).open(request(repo));
    await before.mark("pmt_1");
    const at = (name: string) => join(before.folder, name);
    writeFileSync(at("a.txt"), "one\n2\n");
    writeFileSync(at("new.txt"), "new\n");
    writeFileSync(at("pic.bin"), Buffer.from([0, 1, 2, 0]));
    writeFileSync(at("latin.txt"), Buffer.from("caf\xe9\n", "latin1"));
    rmSync(at("gone.txt"));
    execFileSync("mv", [at("old.txt"), at("moved.txt")]);
    const { all } = await before.changes("pmt_1");
    expect(all.files.filter(({ isExact }) => isExact === false)).toMatchObject([
      { path: "latin.txt", patch: expect.stringContaining("caf") },
    ]);

    const after = await (await machine(provider())).open(request(repo));
    expect(await applyChanges(after.sandbox, all.files, signal)).toEqual([]);
    const read = (name: string) => readFileSync(join(after.folder, name), "utf8");
    expect(read("a.txt")).toBe("one\n2\n");
    expect(read("new.txt")).toBe("new\n");
    expect(read("moved.txt")).toBe("moved\n");
    for (const name of ["gone.txt", "old.txt", "pic.bin", "latin.txt"])
      expect(existsSync(join(after.folder, name))).toBe(false);
    await after.mark("pmt_2");
    const there = await after.changes("pmt_2");
    expect(there.turn.files).toEqual([]);
    expect(there.all.files.map(({ path }) => path)).toEqual(
      all.files
        .map(({ path }) => path)
        .filter((path) => path !== "pic.bin" && path !== "latin.txt"),
    );
  });

  it("go in also where the workspace lies below somebody's repository", async () => {
    const outer = join(top, `outer-${count++}`);
    execFileSync("git", ["init", "-q", outer]);
    const workspace = await (await machine(provider(), outer)).open(request(null));
    const patch =
      "diff --git a/n.txt b/n.txt\nnew file mode 100644\n--- /dev/null\n+++ b/n.txt\n@@ -0,0 +1 @@\n+hi\n";
    const counts = { additions: 1, deletions: 0, binary: false };
    const file = { path: "n.txt", status: "added" as const, from: null, ...counts, patch };
    expect(await applyChanges(workspace.sandbox, [file], signal)).toEqual([]);
    expect(readFileSync(join(workspace.folder, "n.txt"), "utf8")).toBe("hi\n");
  });

  it("go into an empty workspace, each for itself where one does not fit, and never outside", async () => {
    const workspace = await (await machine(provider())).open(request(null));
    const added = (path: string) =>
      `diff --git a/${path} b/${path}\nnew file mode 100644\n--- /dev/null\n+++ b/${path}\n@@ -0,0 +1 @@\n+hi\n`;
    const change = (path: string, patch: string) => ({
      path,
      status: "added" as const,
      from: null,
      additions: 1,
      deletions: 0,
      binary: false,
      patch,
    });
    const misfit = "diff --git a/b.txt b/b.txt\n--- a/b.txt\n+++ b/b.txt\n@@ -1 +1 @@\n-x\n+y\n";
    const files = [
      change("a.txt", added("a.txt")),
      change("b.txt", misfit),
      change("../out.txt", added("../out.txt")),
      change(".git/hooks/post-checkout", added(".git/hooks/post-checkout")),
      change("sub/c.txt", added("sub/c.txt")),
    ];
    expect(await applyChanges(workspace.sandbox, files, signal)).toEqual([
      "b.txt",
      "../out.txt",
      ".git/hooks/post-checkout",
    ]);
    expect(readFileSync(join(workspace.folder, "sub/c.txt"), "utf8")).toBe("hi\n");
    for (const name of ["../out.txt", ".git"])
      expect(existsSync(join(workspace.folder, name))).toBe(false);
  });

  it("need a new workspace: what the machine held of the session is put away and does not come back", async () => {
    const workspaces = await machine(provider());
    const old = await workspaces.open(request(null));
    writeFileSync(join(old.folder, "old.txt"), "old\n");
    const fresh = await workspaces.open({ ...request(null), isFresh: true });
    expect(fresh.id).not.toBe(old.id);
    expect(existsSync(join(fresh.folder, "old.txt"))).toBe(false);
    const again = await workspaces.open(request(null));
    expect(again.id).toBe(fresh.id);
    await workspaces.remove("ses_1");
    const next = await workspaces.open({ ...request(null), isFresh: true });
    expect([old.id, fresh.id]).not.toContain(next.id);
  });
});

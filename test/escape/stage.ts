/**
 * The targets of an escape: secrets with a canary, another session's workspace, a process of the
 * machine, listening services. Probes run in a workspace of the same runner.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "#base/clock.ts";
import { createIds } from "#base/ids.ts";
import { createBubblewrap } from "#execution/sandboxes/bubblewrap/bubblewrap.ts";
import { createLocal } from "#execution/sandboxes/local/local.ts";
import { DEFAULT_LIMITS, type Sandbox } from "#execution/sandboxes/sandbox.ts";
import type { Workspace, Workspaces } from "#execution/workspaces/workspace.ts";
import { createWorkspaces } from "#execution/workspaces/workspaces.ts";
import { createPublicServer, dialFor, fakeResolver } from "./fake-internet.ts";

export interface Stage {
  /** A secret that nothing inside may ever print. */
  canary: string;
  folder: string;
  files: { sshKey: string; ownerKey: string; token: string; other: string; outside: string };
  /** A process of the machine, with the canary in its environment and on its command line. */
  victim(): ChildProcess;
  ports: { v4: number; v6: number | null };
  sockets: { path: string; abstract: string };
  workspace: Workspace;
  /** Workspaces of the same runner. */
  workspaces: Workspaces;
  /** May reach some hosts of the fake internet. */
  online: Sandbox;
  /** No isolation: shows that a probe can succeed. */
  control: Sandbox;
  close(): Promise<void>;
}

const quiet = { debug() {}, info() {}, warn() {}, error() {} } as never;

export async function buildStage(bwrapFile: string): Promise<Stage> {
  const canary = `canary-${randomBytes(8).toString("hex")}`;
  const folder = mkdtempSync(join(tmpdir(), "muster-escape-"));
  const files = plantFiles(folder, canary);
  const victims: ChildProcess[] = [];
  const servers: Server[] = [];
  const tellCanary = () =>
    createServer((socket) => {
      socket.on("error", () => undefined);
      socket.end(`${canary}\n`);
    });
  const listen = async (where: object, server = tellCanary()) => {
    servers.push(server);
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(where, resolve);
    });
    const address = server.address();
    return typeof address === "object" && address ? address.port : 0;
  };
  const v4 = await listen({ host: "127.0.0.1", port: 0 });
  const v6 = await listen({ host: "::1", port: 0 }).catch(() => null);
  const publicPort = await listen({ host: "127.0.0.1", port: 0 }, createPublicServer());
  const sockets = { path: join(folder, "docker.sock"), abstract: `muster-${canary.slice(7)}` };
  await listen({ path: sockets.path });
  await listen({ path: `\0${sockets.abstract}` });

  const data = join(folder, "data");
  const provider = createBubblewrap({
    folder: join(data, "sandboxes"),
    path: "",
    bwrapFile,
    network: { resolve: { lookupAll: fakeResolver() }, dial: dialFor(v4, publicPort) },
  });
  const workspaces: Workspaces = await createWorkspaces({
    folder: data,
    sandboxProvider: provider,
    limits: DEFAULT_LIMITS,
    allowedHosts: [],
    clock: systemClock,
    ids: createIds(),
    log: quiet,
  });
  const wish = { repository: null, mayUsePath: true, branch: null, projectDir: null };
  const other = await workspaces.open({ ...wish, sessionId: "ses_other" });
  writeFileSync(join(other.folder, "secret"), canary);
  const workspace = await workspaces.open({ ...wish, sessionId: "ses_probe" });
  const spec = {
    workspaceFolder: workspace.folder,
    scratchFolder: join(folder, "scratch"),
    limits: DEFAULT_LIMITS,
  };
  const online = await provider.open({ ...spec, allowedHosts: ["allowed.test", "*.wild.test"] });
  const control = await createLocal({ path: "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin" }).open({
    ...spec,
    allowedHosts: [],
  });
  return {
    canary,
    folder,
    files: { ...files, other: join(other.folder, "secret") },
    ports: { v4, v6 },
    sockets,
    workspace,
    workspaces,
    online,
    control,
    victim() {
      const alive = victims.find((child) => child.exitCode === null && child.signalCode === null);
      if (alive) return alive;
      const child = spawn("sh", ["-c", "sleep 600; :", canary], {
        env: { PATH: "/usr/bin:/bin", SECRET: canary },
        stdio: "ignore",
      });
      victims.push(child);
      return child;
    },
    async close() {
      for (const child of victims) child.kill("SIGKILL");
      await control.close();
      await online.close();
      await workspaces.close();
      for (const server of servers) server.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function plantFiles(folder: string, canary: string) {
  const plant = (name: string) => {
    const file = join(folder, name);
    mkdirSync(join(file, ".."), { recursive: true });
    writeFileSync(file, `${canary}\n`);
    return file;
  };
  return {
    sshKey: plant("home/.ssh/id_rsa"),
    ownerKey: plant("data/owner.key"),
    token: plant("data/runner.token"),
    outside: plant("outside/file"),
  };
}

/** True if something outside is not as it was planted. */
export function isDamaged({ files, canary }: Stage): boolean {
  return Object.values(files).some((file) => {
    try {
      return readFileSync(file, "utf8").trim() !== canary;
    } catch {
      return true;
    }
  });
}

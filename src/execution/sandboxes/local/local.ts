/**
 * No sandbox at all: commands run as the runner's own user, see all it sees and reach the network.
 * For people who chose so, on machines where nothing better works. Some limits still hold: a bare
 * environment, a limit on file size, groups where they can be made, and that the whole tree is
 * killed, daemons included.
 */
import { spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { createTreeMark, findMarked, signalTree } from "#execution/process-tree.ts";
import { type CommandGroup, type ControlGroups, findControlGroups } from "../control-groups.ts";
import { coverInherited } from "../inherited-files.ts";
import { buildLaunch } from "../launch.ts";
import { type CommandPipes, createPipePool } from "../pipes.ts";
import type {
  Enforced,
  Sandbox,
  SandboxCommand,
  SandboxProcess,
  SandboxProvider,
  SandboxSpec,
} from "../sandbox.ts";
import { supervise } from "../supervise.ts";

export interface LocalOptions {
  /** Search path of commands. */
  path: string;
  /** Null to work without control groups. */
  controlGroups?: ControlGroups | null;
}

export function createLocal({ path, controlGroups }: LocalOptions): SandboxProvider {
  const groups = controlGroups === undefined ? findControlGroups() : controlGroups;
  const enforced = enforcedBy(groups);
  return {
    kind: "local",
    probe: async () => ({ usable: true, enforced }),
    open: (spec) => openLocal(spec, path, groups, enforced),
  };
}

async function openLocal(
  spec: SandboxSpec,
  path: string,
  groups: ControlGroups | null,
  enforced: Enforced,
): Promise<Sandbox> {
  const home = join(spec.scratchFolder, "home");
  const tmp = join(spec.scratchFolder, "tmp");
  for (const folder of [home, tmp]) mkdirSync(folder, { recursive: true });
  const group = groups?.open(spec.limits) ?? null;
  const base = { PATH: path, HOME: home, TMPDIR: tmp, LANG: "C.UTF-8", TERM: "dumb" };
  const pool = await createPipePool(join(spec.scratchFolder, "pipes"));
  const alive = new Set<SandboxProcess>();
  let closed = false;
  return {
    kind: "local",
    workspacePath: spec.workspaceFolder,
    enforced,
    run(command) {
      if (closed) throw new Error("The sandbox is closed.");
      const env = { ...base, ...command.env };
      const running = start({ ...command, env }, spec, group?.openCommand() ?? null, pool.take());
      alive.add(running);
      void running.ended.then(() => alive.delete(running));
      return running;
    },
    async close() {
      closed = true;
      const all = [...alive];
      for (const running of all) running.kill();
      await Promise.all(all.map(({ ended }) => ended));
      group?.remove();
    },
  };
}

function start(
  command: SandboxCommand,
  { workspaceFolder, limits }: SandboxSpec,
  group: CommandGroup | null,
  pipes: CommandPipes,
): SandboxProcess {
  const mark = createTreeMark();
  const launch = { fileBytes: limits.fileBytes, join: group?.join ?? [] };
  const [file = "", ...args] = buildLaunch(launch, command.argv);
  const child = spawn(file, args, {
    cwd: command.cwd ?? workspaceFolder,
    env: { ...command.env, [mark.name]: mark.value },
    stdio: coverInherited(pipes.stdio),
    detached: true,
  });
  const streams = pipes.attach(child);
  const containment = {
    kill() {
      group?.kill();
      if (child.pid !== undefined) signalTree(child.pid, mark, "SIGKILL");
    },
    isGone: () => (group ? group.isEmpty() : findMarked(mark).length === 0),
    verdict: () => (group?.ranOutOfMemory() ? ("memory" as const) : null),
    release: () => group?.remove(),
  };
  return supervise(child, streams, containment, command);
}

function enforcedBy(groups: ControlGroups | null): Enforced {
  const how = groups && `control groups, version ${groups.version}`;
  return { processes: how, memoryBytes: how, fileBytes: "a limit of the process" };
}

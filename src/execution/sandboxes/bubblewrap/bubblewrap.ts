/**
 * Sandboxes made with bubblewrap: each command runs in namespaces of its own, which cost some
 * milliseconds, so that nothing of it outlives it. `view.ts` defines what a command sees.
 */
import { accessSync, constants, existsSync, mkdirSync, statSync } from "node:fs";
import { delimiter, join } from "node:path";
import { findInstallFix, findNamespaceFix, isNamespaceError } from "#base/machine/sandbox-fix.ts";
import { Refusal } from "#base/refusal.ts";
import { WORKSPACE_PATH } from "#protocol/names/workspace-paths.ts";
import { SANDBOX_UNAVAILABLE, type SandboxFix } from "#protocol/reports/sandboxes.ts";
import { collectText } from "../collect-text.ts";
import { type ControlGroups, findControlGroups } from "../control-groups.ts";
import { createPipePool } from "../pipes.ts";
import {
  DEFAULT_LIMITS,
  type Enforced,
  type Sandbox,
  type SandboxProbe,
  type SandboxProcess,
  type SandboxProvider,
  type SandboxSpec,
} from "../sandbox.ts";
import { type NetworkOptions, openNetwork, type SandboxNetwork } from "./network/network.ts";
import { buildProof } from "./proven-mounts.ts";
import { runCommand } from "./run-command.ts";
import { buildSeccompFilter } from "./seccomp.ts";
import { findSystemView } from "./system-view.ts";
import { buildCommandOptions, buildView, type SystemView } from "./view.ts";

export interface BubblewrapOptions {
  /** Folder of the runner, for what all sandboxes share. No agent can write to it. */
  folder: string;
  /** Search path for programs. */
  path: string;
  /** Path of bubblewrap; looked up when absent. */
  bwrapFile?: string;
  /** Null to work without control groups, as on machines that do not let us make any. */
  controlGroups?: ControlGroups | null;
  network?: NetworkOptions;
}

const PROBE_TIMEOUT_MS = 10_000;
const PRLIMIT = "/usr/bin/prlimit";
const NOT_INSTALLED =
  "Bubblewrap is not installed on this machine, so agents cannot run commands here. Work that needs it waits and continues by itself.";

export function createBubblewrap(options: BubblewrapOptions): SandboxProvider {
  const { folder } = options;
  const groups = options.controlGroups === undefined ? findControlGroups() : options.controlGroups;
  const seccomp = buildSeccompFilter();
  let system: SystemView | undefined;

  const findFile = () => options.bwrapFile ?? findProgram("bwrap", options.path);
  const open = async (spec: SandboxSpec): Promise<Sandbox> => {
    const bwrapFile = findFile();
    if (!bwrapFile) throw unusable(NOT_INSTALLED);
    system ??= findSystemView(join(folder, "system"));
    return openSandbox(
      { bwrapFile, system, groups, seccomp, folder, network: options.network },
      spec,
    );
  };

  return {
    kind: "bubblewrap",
    open,
    async probe(): Promise<SandboxProbe> {
      if (process.platform !== "linux") {
        return { usable: false, why: "Bubblewrap needs Linux. Start a runner on a Linux machine." };
      }
      if (!findFile())
        return { usable: false, why: NOT_INSTALLED, fix: findInstallFix(options.path) };
      return tryOut(open, join(folder, "probe"), enforcedBy(groups));
    },
  };
}

interface Parts {
  bwrapFile: string;
  system: SystemView;
  groups: ControlGroups | null;
  seccomp: Buffer | undefined;
  folder: string;
  network: NetworkOptions | undefined;
}

async function openSandbox(parts: Parts, spec: SandboxSpec): Promise<Sandbox> {
  const scratch = { tmp: join(spec.scratchFolder, "tmp"), home: join(spec.scratchFolder, "home") };
  for (const folder of Object.values(scratch)) mkdirSync(folder, { recursive: true });
  const group = parts.groups?.open(spec.limits) ?? null;
  const network = await openNetworkIf(spec.allowedHosts, parts);
  const view = [...buildView(parts.system, withNetwork(spec, network), scratch)];
  const pool = await createPipePool(join(spec.scratchFolder, "pipes"));
  const alive = new Set<SandboxProcess>();
  let closed = false;
  // Without groups the limit on processes is the user's, counted in the namespace. The kernel does
  // not hold root to it.
  const limiter =
    !group && canLimitProcesses() ? [PRLIMIT, `--nproc=${spec.limits.processes}`, "--"] : [];
  const proof = buildProof(spec);

  return {
    kind: "bubblewrap",
    workspacePath: WORKSPACE_PATH,
    enforced: enforcedBy(parts.groups),
    run(command) {
      if (closed) throw new Error("The sandbox is closed.");
      const running = runCommand(
        {
          ...parts,
          options: [...view, ...buildCommandOptions(command, network?.env)],
          argv: [...proof, ...limiter, ...(network?.wrapper ?? []), ...command.argv],
          limits: spec.limits,
          group: group?.openCommand() ?? null,
          pipes: pool.take(),
        },
        command,
      );
      alive.add(running);
      void running.ended.then(() => alive.delete(running));
      return running;
    },
    async close() {
      closed = true;
      const all = [...alive];
      for (const running of all) running.kill();
      await Promise.all(all.map(({ ended }) => ended));
      await network?.close();
      group?.remove();
    },
  };
}

function openNetworkIf(hosts: readonly string[], { folder, network }: Parts) {
  return hosts.length === 0 ? null : openNetwork({ allowedHosts: hosts, folder, ...network });
}

function withNetwork(spec: SandboxSpec, network: SandboxNetwork | null): SandboxSpec {
  return network ? { ...spec, readOnly: [...(spec.readOnly ?? []), ...network.mounts] } : spec;
}

function enforcedBy(groups: ControlGroups | null): Enforced {
  const byProcess = "a limit of the process";
  if (groups) {
    const how = `control groups, version ${groups.version}`;
    return { processes: how, memoryBytes: how, fileBytes: byProcess };
  }
  const watched = "a check of running processes, five times a second";
  const processes = canLimitProcesses() ? "a limit of the user in its namespace" : watched;
  return { processes, memoryBytes: watched, fileBytes: byProcess };
}

function canLimitProcesses(): boolean {
  return process.getuid?.() !== 0 && existsSync(PRLIMIT);
}

/** Probes the sandbox with a command that would reveal what must stay hidden. */
async function tryOut(
  open: SandboxProvider["open"],
  folder: string,
  enforced: Enforced,
): Promise<SandboxProbe> {
  const workspaceFolder = join(folder, "workspace");
  mkdirSync(workspaceFolder, { recursive: true });
  const sandbox = await open({
    workspaceFolder,
    scratchFolder: join(folder, "scratch"),
    allowedHosts: [],
    limits: DEFAULT_LIMITS,
  });
  try {
    const seen = `[ -e "$1" ] && exit 3; touch /probe 2>/dev/null && exit 4; touch "$PWD/probe" || exit 5`;
    const command = sandbox.run({
      argv: ["/bin/sh", "-c", seen, "sh", folder],
      timeoutMs: PROBE_TIMEOUT_MS,
    });
    const [stderr, end] = await Promise.all([collectText(command.stderr), command.ended]);
    command.stdout.resume();
    if (end.exitCode === 0) return { usable: true, enforced };
    return { usable: false, ...explain(stderr, end.exitCode) };
  } finally {
    await sandbox.close();
  }
}

function explain(stderr: string, exitCode: number | null): { why: string; fix: SandboxFix | null } {
  const said = stderr.trim().slice(0, 300);
  if (!isNamespaceError(said)) {
    const why = `A trial command in bubblewrap failed on this machine (exit code ${exitCode}): ${said || "it said nothing"}.`;
    return { why, fix: null };
  }
  const fix = findNamespaceFix();
  const container = fix
    ? ""
    : " In Docker, start the container with --security-opt seccomp=unconfined --security-opt apparmor=unconfined --cap-add SYS_ADMIN.";
  return { why: `Bubblewrap may not make namespaces on this machine (${said}).${container}`, fix };
}

function unusable(why: string): Refusal {
  return new Refusal("unavailable", SANDBOX_UNAVAILABLE, why);
}

function findProgram(name: string, path: string): string | undefined {
  return path
    .split(delimiter)
    .filter(Boolean)
    .map((folder) => join(folder, name))
    .find(isProgram);
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

/**
 * Starts one command in a bubblewrap of its own. Bubblewrap gets an empty environment and its
 * options by a pipe: its arguments can be read inside, in the `/proc` of its first process.
 */
import { type ChildProcess, spawn } from "node:child_process";
import type { Duplex } from "node:stream";
import type { CommandGroup } from "../control-groups.ts";
import { coverInherited } from "../inherited-files.ts";
import { buildLaunch } from "../launch.ts";
import type { CommandPipes } from "../pipes.ts";
import type { SandboxCommand, SandboxLimits, SandboxProcess } from "../sandbox.ts";
import { supervise } from "../supervise.ts";
import { contain } from "./containment.ts";
import { encodeOptions } from "./view.ts";

const OPTIONS_FD = 3;
const INFO_FD = 4;
const SECCOMP_FD = 5;

export interface BubblewrapCall {
  bwrapFile: string;
  options: readonly string[];
  argv: readonly string[];
  seccomp: Buffer | undefined;
  limits: SandboxLimits;
  group: CommandGroup | null;
  pipes: CommandPipes;
}

export function runCommand(
  { bwrapFile, options, argv, seccomp, limits, group, pipes }: BubblewrapCall,
  command: Pick<SandboxCommand, "signal" | "timeoutMs">,
): SandboxProcess {
  const encoded = encodeOptions([
    ...options,
    ...["--info-fd", String(INFO_FD)],
    ...(seccomp ? ["--seccomp", String(SECCOMP_FD)] : []),
  ]);
  const [file = "", ...args] = buildLaunch(
    { fileBytes: limits.fileBytes, join: group?.join ?? [] },
    [...[bwrapFile, "--args", String(OPTIONS_FD), "--"], ...argv],
  );
  const child = spawn(file, args, {
    cwd: "/",
    env: {},
    stdio: coverInherited([...pipes.stdio, "pipe", "pipe", "pipe"]),
  });
  const streams = pipes.attach(child);
  feed(child, OPTIONS_FD, encoded);
  feed(child, SECCOMP_FD, seccomp ?? Buffer.alloc(0));
  return supervise(
    child,
    streams,
    contain(child, pipeOf(child, INFO_FD), { group, limits }),
    command,
  );
}

function feed(child: ChildProcess, fd: number, bytes: Buffer): void {
  const pipe = pipeOf(child, fd);
  pipe.on("error", () => undefined); // Bubblewrap ended before it had read everything.
  pipe.end(bytes);
}

function pipeOf(child: ChildProcess, fd: number): Duplex {
  return child.stdio[fd] as Duplex;
}

/**
 * Real pipes for the output of commands. Node gives its children sockets, and a program that opens
 * `/dev/stdout` or `/dev/stderr` by name then fails; scripts do that often. Named pipes are made
 * once for a sandbox and used again; when all are in use, or none can be made, sockets replace
 * them. The input stays a socket: opening a named pipe by name waits for a writer, who may have
 * gone.
 */
import { type ChildProcess, execFile } from "node:child_process";
import { closeSync, constants, mkdirSync, openSync, rmSync } from "node:fs";
import { Socket } from "node:net";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";

export interface CommandStreams {
  stdin: Writable;
  stdout: Readable;
  stderr: Readable;
}

export interface CommandPipes {
  /** Standard streams of the child, for its first three descriptors. */
  readonly stdio: (number | "pipe")[];
  /** Called as soon as the child has been started. */
  attach(child: ChildProcess): CommandStreams;
}

export interface PipePool {
  take(): CommandPipes;
}

const SETS = 4;
const { O_RDWR, O_RDONLY, O_WRONLY, O_NONBLOCK } = constants;

/** Makes a pool; `folder` must be out of the commands' sight. */
export async function createPipePool(folder: string): Promise<PipePool> {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const names = Array.from({ length: SETS * 2 }, (_, i) => join(folder, String(i)));
  const made = await new Promise<boolean>((resolve) => {
    execFile("mkfifo", ["-m", "600", ...names], { env: { PATH: "/usr/bin:/bin" } }, (error) =>
      resolve(error === null),
    );
  });
  const free = made ? Array.from({ length: SETS }, (_, i) => names.slice(i * 2, i * 2 + 2)) : [];
  return {
    take() {
      const set = free.pop();
      if (!set) return sockets;
      try {
        return openSet(set, () => free.push(set));
      } catch {
        return sockets; // A command can remove the rights to its pipe; that pipe is not used again.
      }
    },
  };
}

const sockets: CommandPipes = {
  stdio: ["pipe", "pipe", "pipe"],
  attach: ({ stdin, stdout, stderr }) => ({
    stdin: stdin as Writable,
    stdout: stdout as Readable,
    stderr: stderr as Readable,
  }),
};

function openSet(files: readonly string[], giveBack: () => void): CommandPipes {
  const ends = files.map(openPipe);
  return {
    stdio: ["pipe", ...ends.map(({ theirs }) => theirs)],
    attach({ stdin }) {
      for (const { theirs } of ends) closeSync(theirs);
      let open = ends.length;
      const [stdout, stderr] = ends.map(({ ours }) => {
        const socket = new Socket({ fd: ours, readable: true, writable: false });
        // Used again only when it can hold nothing of the last command.
        socket.once("close", () => {
          open--;
          if (open === 0) giveBack();
        });
        return socket;
      }) as [Socket, Socket];
      return { stdin: stdin as Writable, stdout, stderr };
    },
  };
}

/** Opened for both first, because opening one end waits for the other. */
function openPipe(file: string): { theirs: number; ours: number } {
  const both = openSync(file, O_RDWR | O_NONBLOCK);
  try {
    return { theirs: openSync(file, O_WRONLY), ours: openSync(file, O_RDONLY | O_NONBLOCK) };
  } finally {
    closeSync(both);
  }
}

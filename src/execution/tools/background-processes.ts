/**
 * What sessions have running in the background. It lives in memory, because processes do not outlive
 * their runner either. Of each, the output since the last look is kept, at most its last piece.
 */
import type { CommandEnd, SandboxProcess } from "#execution/sandboxes/sandbox.ts";
import { readCommand } from "./command-output.ts";
import { TailBuffer } from "./output-buffer.ts";
import { ToolProblem } from "./perform-tool.ts";

const MAX_RUNNING = 16;
/** Ended ones that can still be read; the oldest are forgotten. */
const MAX_ENDED = 32;
const UNREAD_BYTES = 60_000;

export interface BackgroundProcess {
  readonly id: string;
  readonly command: string;
  readonly process: SandboxProcess;
  readonly unread: TailBuffer;
  /** Null while it runs. */
  end: CommandEnd | null;
  /** Resolves when it has ended and its last output is there. */
  done: Promise<void>;
}

interface SessionProcesses {
  lastNumber: number;
  /** In the order of their start. */
  all: Map<string, BackgroundProcess>;
}

export class BackgroundProcesses {
  readonly #sessions = new Map<string, SessionProcesses>();

  /** Refuses when the session has as many as it may. `start` is called only if there is room. */
  add(
    sessionId: string,
    command: string,
    start: () => { process: SandboxProcess; stdin: string },
  ): BackgroundProcess {
    const session = this.#sessions.get(sessionId) ?? { lastNumber: 0, all: new Map() };
    this.#sessions.set(sessionId, session);
    if (running(session).length >= MAX_RUNNING) {
      throw new ToolProblem(
        `${MAX_RUNNING} background processes are running, which is as many as a session may have. Kill one first, with the processes tool.`,
      );
    }
    const { process, stdin } = start();
    session.lastNumber++;
    const entry: BackgroundProcess = {
      id: `bg_${session.lastNumber}`,
      command,
      process,
      unread: new TailBuffer(UNREAD_BYTES),
      end: null,
      done: Promise.resolve(),
    };
    entry.done = follow(entry, stdin).then(() => forgetOldest(session));
    session.all.set(entry.id, entry);
    return entry;
  }

  list(sessionId: string): BackgroundProcess[] {
    return [...(this.#sessions.get(sessionId)?.all.values() ?? [])];
  }

  get(sessionId: string, id: string): BackgroundProcess {
    const found = this.#sessions.get(sessionId)?.all.get(id);
    if (found) return found;
    throw new ToolProblem(
      `No background process ${id.slice(0, 100)} is known: it ended with the runner it was started on, or long ago, or never was. List what there is, or start it again.`,
    );
  }

  async endSession(sessionId: string): Promise<void> {
    const session = this.#sessions.get(sessionId);
    this.#sessions.delete(sessionId);
    if (session) await endAll(session);
  }

  async close(): Promise<void> {
    const sessions = [...this.#sessions.values()];
    this.#sessions.clear();
    await Promise.all(sessions.map(endAll));
  }
}

async function endAll(session: SessionProcesses): Promise<void> {
  const left = running(session);
  for (const { process } of left) process.kill();
  await Promise.all(left.map(({ done }) => done));
}

function running(session: SessionProcesses): BackgroundProcess[] {
  return [...session.all.values()].filter(({ end }) => end === null);
}

function forgetOldest(session: SessionProcesses): void {
  const ended = [...session.all.values()].filter(({ end }) => end !== null);
  for (const { id } of ended.slice(0, Math.max(0, ended.length - MAX_ENDED))) {
    session.all.delete(id);
  }
}

async function follow(entry: BackgroundProcess, stdin: string): Promise<void> {
  const keep = (chunk: Buffer) => entry.unread.push(chunk);
  entry.end = await readCommand(entry.process, { stdout: keep, stderr: keep }, stdin);
}

/**
 * Background processes of sessions. They are kept in memory, because processes do not outlive their
 * runner either. The output since the last look is kept for each, at most its last piece.
 */
import type { CommandEnd, SandboxProcess } from "#execution/sandboxes/sandbox.ts";
import { TailBuffer } from "../output/output-buffer.ts";
import { ToolProblem } from "../perform-tool.ts";
import { readCommand } from "./command-output.ts";

const MAX_RUNNING = 16;
/** Ended processes that can still be read; the oldest are forgotten. */
const MAX_ENDED = 32;
const UNREAD_BYTES = 60_000;
/** Sessions at rest whose ended processes are remembered; the oldest are forgotten. */
const MAX_RESTED = 1_000;
const REMEMBERED_CHARS = 200;

export interface BackgroundProcess {
  readonly id: string;
  readonly command: string;
  readonly process: SandboxProcess;
  readonly unread: TailBuffer;
  /** Null while the process runs. */
  end: CommandEnd | null;
  /** Resolves when the process has ended and its last output was read. */
  done: Promise<void>;
}

interface SessionProcesses {
  lastNumber: number;
  /** Processes in the order of their start. */
  all: Map<string, BackgroundProcess>;
}

/** A process that ran when its session went to sleep, and was ended for that reason. */
export interface EndedBySleep {
  readonly id: string;
  /** Beginning of the command. */
  readonly command: string;
}

interface RestedSession {
  lastNumber: number;
  ended: EndedBySleep[];
  isReported: boolean;
}

export class BackgroundProcesses {
  readonly #sessions = new Map<string, SessionProcesses>();
  /** Sessions in the order in which they went to rest. */
  readonly #rested = new Map<string, RestedSession>();

  /** Starts a process; `start` is called only if the session may have one more, else this refuses. */
  add(
    sessionId: string,
    command: string,
    start: () => { process: SandboxProcess; stdin: string },
  ): BackgroundProcess {
    // Numbers continue after a sleep, so that an id never means two processes.
    const lastNumber = this.#rested.get(sessionId)?.lastNumber ?? 0;
    const session = this.#sessions.get(sessionId) ?? { lastNumber, all: new Map() };
    this.#sessions.set(sessionId, session);
    if (running(session).length >= MAX_RUNNING) {
      throw new ToolProblem(
        `${MAX_RUNNING} background processes are running, which is the limit of a session. Kill one first, with the processes tool.`,
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
    if (this.endedByRest(sessionId).some((ended) => ended.id === id))
      throw new ToolProblem(
        `${id} ended when the session went to sleep, and its output was not kept. Start it again if it is needed.`,
      );
    throw new ToolProblem(
      `There is no background process ${id.slice(0, 100)}: it ended with its runner, before the session last slept, or long ago; or the id is wrong. List the processes, or start it again.`,
    );
  }

  endedByRest(sessionId: string): readonly EndedBySleep[] {
    return this.#rested.get(sessionId)?.ended ?? [];
  }

  /** Ended processes that the agent was not notified of; they count as delivered from now on. */
  takeEndedByRest(sessionId: string): readonly EndedBySleep[] {
    const rested = this.#rested.get(sessionId);
    if (!rested || rested.isReported) return [];
    rested.isReported = true;
    return rested.ended;
  }

  /** Ends the processes of a session that goes to sleep, and remembers them. */
  async rest(sessionId: string): Promise<void> {
    const session = this.#sessions.get(sessionId);
    if (!session) return;
    const ended = running(session).map(({ id, command }) => ({
      id,
      command: command.slice(0, REMEMBERED_CHARS),
    }));
    this.#rested.delete(sessionId);
    this.#rested.set(sessionId, { lastNumber: session.lastNumber, ended, isReported: false });
    const [oldest] = this.#rested.keys();
    if (this.#rested.size > MAX_RESTED && oldest !== undefined) this.#rested.delete(oldest);
    this.#sessions.delete(sessionId);
    await endAll(session);
  }

  /** Ends the processes of a session that will not come back. */
  async endSession(sessionId: string): Promise<void> {
    const session = this.#sessions.get(sessionId);
    this.#sessions.delete(sessionId);
    this.#rested.delete(sessionId);
    if (session) await endAll(session);
  }

  async close(): Promise<void> {
    const sessions = [...this.#sessions.values()];
    this.#sessions.clear();
    this.#rested.clear();
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

/** A host for tests: what a command wrote, how it ended, and a keyboard to interrupt it with. */
import { CommanderError } from "commander";
import { kernelMigrations } from "#engine/migrations.ts";
import type { CliHost, Input, StartRunnerOptions } from "../host.ts";
import { createProgram } from "../index.ts";

export interface FakeHostOptions {
  env?: Record<string, string>;
  /** What is piped in; undefined is a terminal on which nothing is typed. */
  input?: string;
  /** What a person types on a terminal. */
  typed?: string;
  isTTY?: boolean;
}

export interface FakeHost extends CliHost {
  readonly out: string;
  readonly err: string;
  readonly codes: number[];
  readonly started: { program: string; options: StartRunnerOptions }[];
  interrupt(): void;
}

export function createFakeHost(options: FakeHostOptions = {}): FakeHost {
  const written = { out: "", err: "" };
  const listeners = new Set<() => void>();
  const isTTY = options.isTTY ?? false;
  const host: FakeHost = {
    version: "1.2.3",
    env: options.env ?? {},
    stdout: { isTTY, write: (text) => (written.out += text) },
    stderr: { isTTY, write: (text) => (written.err += text) },
    stdin: inputOf(options),
    kernelMigrations,
    codes: [],
    started: [],
    exit: (code) => void host.codes.push(code),
    onInterrupt(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    interrupt() {
      for (const listener of listeners) listener();
    },
    startUp: async (given) =>
      void host.started.push({ program: "up", options: { ...given, tags: [] } }),
    startServer: async (given) =>
      void host.started.push({ program: "server", options: { ...given, tags: [] } }),
    startRunner: async (given) => void host.started.push({ program: "runner", options: given }),
    get out() {
      return written.out;
    },
    get err() {
      return written.err;
    },
  };
  return host;
}

function inputOf({ input, typed }: FakeHostOptions): Input {
  const text = input ?? typed ?? "";
  const isTTY = input === undefined;
  return {
    isTTY,
    async *[Symbol.asyncIterator]() {
      if (text !== "") yield Buffer.from(text);
    },
  };
}

/** Runs one command; the result is its exit code. */
export async function runCommand(host: FakeHost, ...words: string[]): Promise<number | undefined> {
  try {
    await createProgram(host).parseAsync(words, { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
  }
  return host.codes[0];
}

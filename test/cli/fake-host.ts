/** A host for tests: records a command's output and exit, and has a keyboard to interrupt it with. */

import { PassThrough } from "node:stream";
import { CommanderError } from "commander";
import type { EncryptedColumn } from "#base/secrets/secret-key.ts";
import type { Migration } from "#base/store/index.ts";
import { kernelMigrations } from "#engine/migrations.ts";
import { commands } from "#main/commands.ts";
import { createProgram } from "#surfaces/cli/index.ts";
import type { CliHost, Input, Output, StartRunnerOptions } from "#surfaces/cli/kit/host.ts";
import type { TinyTerminal } from "./tiny-terminal.ts";

export interface FakeHostOptions {
  env?: Record<string, string>;
  /** Piped input; undefined is a terminal on which nothing is typed. */
  input?: string;
  /** Text that a person types on a terminal. */
  typed?: string;
  isTTY?: boolean;
  /** A terminal with a person; see `press`. */
  terminal?: TinyTerminal;
  /** Migrations; by default those of the kernel alone. */
  migrations?: readonly Migration[];
  encryptedColumns?: readonly EncryptedColumn[];
  /** Lines of a program, as they come. */
  lines?: AsyncIterable<string>;
}

export interface FakeHost extends CliHost {
  readonly out: string;
  readonly err: string;
  readonly codes: number[];
  readonly started: { program: string; options: StartRunnerOptions }[];
  interrupt(): void;
  /** Presses keys on the terminal. */
  press(keys: string): void;
  resize(columns: number, rows: number): void;
}

export function createFakeHost(options: FakeHostOptions = {}): FakeHost {
  const written = { out: "", err: "" };
  const listeners = new Set<() => void>();
  const isTTY = options.isTTY ?? false;
  const { terminal } = options;
  const keys = new PassThrough();
  const resized = new Set<() => void>();
  const host: FakeHost = {
    version: "1.2.3",
    env: options.env ?? {},
    stdout: terminal
      ? terminalOutput(terminal, resized, (text) => (written.out += text))
      : { isTTY, write: (text) => (written.out += text) },
    stderr: { isTTY, write: (text) => (written.err += text) },
    stdin: terminal ? keyboardOf(keys) : inputOf(options),
    kernelMigrations: options.migrations ?? kernelMigrations,
    encryptedColumns: options.encryptedColumns ?? [],
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
    press: (text) => void keys.write(text),
    resize(columns, rows) {
      if (terminal) Object.assign(terminal, { columns, rows });
      for (const listener of resized) listener();
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

function terminalOutput(
  terminal: TinyTerminal,
  resized: Set<() => void>,
  keep: (text: string) => void,
): Output {
  return {
    isTTY: true,
    get columns() {
      return terminal.columns;
    },
    get rows() {
      return terminal.rows;
    },
    write(text) {
      keep(text);
      terminal.write(text);
    },
    on: (_event, listener) => resized.add(listener),
    off: (_event, listener) => resized.delete(listener),
  };
}

function keyboardOf(keys: PassThrough): Input {
  return {
    isTTY: true,
    setRawMode() {},
    [Symbol.asyncIterator]: () => keys[Symbol.asyncIterator](),
  };
}

function inputOf({ input, typed, lines }: FakeHostOptions): Input {
  if (lines) return { [Symbol.asyncIterator]: () => lines[Symbol.asyncIterator]() };
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
    await createProgram(host, commands).parseAsync(words, { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
  }
  return host.codes[0];
}

/**
 * Dependencies of the command line on its process. `main/` provides them, so that commands start no server
 * themselves and tests can observe everything they do.
 */
import type { Environment } from "#base/config.ts";
import type { EncryptedColumn } from "#base/secrets/secret-key.ts";
import type { Migration } from "#base/store/index.ts";

export interface Output {
  write(text: string): unknown;
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
  readonly rows?: number | undefined;
  /** A terminal calls back when its size has changed. */
  on?(event: "resize", listener: () => void): unknown;
  off?(event: "resize", listener: () => void): unknown;
}

export type Input = AsyncIterable<string | Uint8Array> & {
  readonly isTTY?: boolean;
  /** Raw mode of a terminal: keys come one by one. */
  setRawMode?(isRaw: boolean): unknown;
};

export interface StartOptions {
  /** The environment, overridden by options of the command line. */
  env: Environment;
}

export interface StartRunnerOptions extends StartOptions {
  tags: string[];
  name?: string;
  profile?: string;
  tokenFile?: string;
  folder?: string;
  projectDir?: string;
}

export interface CliHost {
  readonly version: string;
  readonly env: Environment;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly stdin: Input;
  exit(code: number): void;
  /** Calls back at every Ctrl-C, instead of ending the process, until the returned function is called. */
  onInterrupt(listener: () => void): () => void;
  /** These may resolve at the start or at the end: the command line does not end the process after them. */
  startUp(options: StartOptions): Promise<void>;
  startServer(options: StartOptions): Promise<void>;
  startRunner(options: StartRunnerOptions): Promise<void>;
  /** Every migration that this program applies, in order. */
  readonly kernelMigrations: readonly Migration[];
  /** Columns that are encrypted with the server's key. */
  readonly encryptedColumns: readonly EncryptedColumn[];
}

export type ProcessHostParts = Pick<
  CliHost,
  | "version"
  | "env"
  | "startUp"
  | "startServer"
  | "startRunner"
  | "kernelMigrations"
  | "encryptedColumns"
>;

/** Creates a host for this process. */
export function createProcessHost(parts: ProcessHostParts): CliHost {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      // The reader has enough, as in `muster sessions ls | head -1`.
      if (error.code === "EPIPE") process.exit(0);
      throw error;
    });
  }
  return {
    ...parts,
    stdout: process.stdout,
    stderr: process.stderr,
    stdin: process.stdin,
    exit: (code) => process.exit(code),
    onInterrupt(listener) {
      process.on("SIGINT", listener);
      return () => process.off("SIGINT", listener);
    },
  };
}

/** One call of one command: its options, its output and its end. */
import type { Command } from "commander";
import { type Config, loadConfig } from "#base/config.ts";
import { notFound } from "#base/refusal.ts";
import { MissingParameter } from "#protocol/api-route.ts";
import { type Api, createApi } from "../client/api.ts";
import { findServer } from "../client/find-server.ts";
import { EXIT, exitCodeOf } from "./exit-codes.ts";
import type { CliHost } from "./host.ts";
import { reportError } from "./report-error.ts";
import { jsonText, styleFor } from "./text/terminal.ts";

export interface Invocation {
  host: CliHost;
  json: boolean;
  /** Throws when a setting is wrong. */
  config(): Config;
  /** Throws when there is no key. */
  api(): Api;
  /** Prints the result: as JSON for programs, otherwise as lines for people. */
  print(value: unknown, lines: readonly string[]): void;
  /** Prints text for people, which is never part of the result. */
  note(text: string): void;
}

interface GlobalOptions {
  json?: boolean;
  server?: string;
}

/** A command's exit code; undefined leaves the process running. */
export type Ending = number | undefined;

/** Runs a command to its end and reports everything it throws. */
export async function perform(
  host: CliHost,
  command: Command,
  work: (invocation: Invocation) => Promise<Ending>,
): Promise<void> {
  const { json = false, server } = command.optsWithGlobals<GlobalOptions>();
  let code: Ending;
  try {
    code = await work(invocationOf(host, json, server));
  } catch (thrown) {
    // An empty id, as from an unset shell variable, names nothing.
    const error = thrown instanceof MissingParameter ? notFound("thing") : thrown;
    reportError(host, error, json);
    code = exitCodeOf(error);
  }
  if (code !== undefined) host.exit(code);
}

function invocationOf(host: CliHost, json: boolean, server: string | undefined): Invocation {
  const config = () => loadConfig(host.env);
  return {
    host,
    json,
    config,
    api: () => createApi(findServer(config(), server)),
    print(value, lines) {
      const text = json ? jsonText(value) : lines.join("\n");
      if (text !== "") host.stdout.write(`${text}\n`);
    },
    note(text) {
      if (!json) host.stderr.write(`${styleFor(host.stderr, host.env).dim(text)}\n`);
    },
  };
}

export const DONE = EXIT.ok;

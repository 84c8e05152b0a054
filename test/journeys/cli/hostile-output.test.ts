/**
 * Every command against a server with hostile text in every field: no control character from that
 * text reaches standard output or error, on a terminal or in a pipe.
 */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Command } from "commander";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { commands } from "#main/commands.ts";
import { createProgram } from "#surfaces/cli/index.ts";
import { createFakeHost, runCommand } from "#test/cli/fake-host.ts";
import { type Platform, startPlatform } from "#test/platform.ts";
import {
  type ApiDocument,
  FORBIDDEN,
  HOSTILE,
  type HostileServer,
  startHostileServer,
} from "./hostile-server.ts";

/** Programs and conversations; chat and run have their own tests with a streaming server. */
const NOT_HERE = /^(up|start|server|runner|chat|run|help)$/;

/** Our own colours are the only escape sequences allowed. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for.
const OWN = /\u001b\[(1|2|22|31|32|33|39)m/g;

let platform: Platform;
let server: HostileServer;
let folder: string;

beforeAll(async () => {
  platform = await startPlatform({ runner: false });
  const { body } = await platform.request<ApiDocument>("GET", "/api/openapi.json");
  server = await startHostileServer(body as unknown as ApiDocument);
  folder = mkdtempSync(join(tmpdir(), "muster-hostile-"));
});

afterAll(async () => {
  await server.stop();
  await platform.stop();
  rmSync(folder, { recursive: true, force: true });
});

function leavesOf(command: Command, path: string[]): { words: string[]; command: Command }[] {
  return command.commands.flatMap((child) => {
    const words = [...path, child.name()];
    if (NOT_HERE.test(words[0] ?? "")) return [];
    return child.commands.length > 0 ? leavesOf(child, words) : [{ words, command: child }];
  });
}

/** Commands that have printed text from an answer. */
const shown = new Set<string>();
const COMMANDS = leavesOf(createProgram(createFakeHost(), commands), []);

/** A value for each argument; folders are temporary because commands write to them. */
function argumentsOf(command: Command): string[] {
  return command.registeredArguments
    .filter(({ required }) => required)
    .map((argument) => {
      if (argument.argChoices) return argument.argChoices[0] ?? "";
      return /folder|file|path/.test(argument.name()) ? join(folder, "x") : HOSTILE.slice(1);
    });
}

async function outputOf(words: string[], isTTY: boolean): Promise<string> {
  const host = createFakeHost({
    env: { MUSTER_SERVER: server.url, MUSTER_API_KEY: "mst_x", MUSTER_HOME: folder },
    isTTY,
    ...(isTTY ? { typed: "y\n" } : { input: "y\n" }),
  });
  await runCommand(host, ...words);
  return host.out + host.err;
}

describe.each(["answers", "refuses"])("a server that %s with hostile text", (how) => {
  beforeAll(() => {
    server.isRefusing = how === "refuses";
  });

  it.each(COMMANDS.map((one) => [one.words.join(" "), one] as const))(
    "cannot command a terminal by way of %s",
    async (_name, { words, command }) => {
      const given = [...words, "--", ...argumentsOf(command)];
      expect((await outputOf(given, true)).replaceAll(OWN, "")).not.toMatch(FORBIDDEN);
      expect(await outputOf(given, false)).not.toMatch(FORBIDDEN);
      const json = await outputOf(["--json", ...given], false);
      expect(json).not.toMatch(FORBIDDEN);
      if (how === "answers" && /u001b|U\+001B/.test(json)) shown.add(words.join(" "));
    },
  );
});

it("most commands have shown the hostile text, spelled out", () => {
  expect(shown.size).toBeGreaterThan(COMMANDS.length / 2);
  expect(server.unknown).toEqual([]);
});

/** Tokens written by the commands of each session in its workspace, below the stage's home. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { TOKEN_FILE } from "../clients/native-scripts.ts";
import type { Stage } from "./stage.ts";

/** Folders of `muster up`, and of a separate runner. */
const RUNNER_FOLDERS = ["runner", "runner-home/runner"];

const LOOK_EVERY_MS = 15;

/** Resolves when a command has just written a matching token, or after `withinMs`. */
export async function nextToken(stage: Stage, pattern: RegExp, withinMs: number): Promise<void> {
  const count = () =>
    [...readTokens(stage).values()].flat().filter((token) => pattern.test(token)).length;
  const deadline = Date.now() + withinMs;
  for (const before = count(); count() <= before && Date.now() < deadline; )
    await sleep(LOOK_EVERY_MS);
}

export function readTokens({ home }: Stage): Map<string, string[]> {
  const tokens = new Map<string, string[]>();
  for (const runner of RUNNER_FOLDERS) {
    const workspaces = join(home, runner, "workspaces");
    const folders = existsSync(workspaces) ? readdirSync(workspaces) : [];
    for (const name of folders) {
      const record = join(workspaces, name, "workspace.json");
      const file = join(workspaces, name, "work", TOKEN_FILE);
      if (!existsSync(record) || !existsSync(file)) continue;
      const { sessionId } = JSON.parse(readFileSync(record, "utf8")) as { sessionId: string };
      const lines = readFileSync(file, "utf8")
        .split("\n")
        .filter((line) => line !== "");
      // A session must have one workspace; with two, tokens in both count as performed twice.
      tokens.set(sessionId, [...(tokens.get(sessionId) ?? []), ...lines]);
    }
  }
  return tokens;
}

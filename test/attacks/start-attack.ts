/** Starts an attacker process beside a test and collects the answers it got. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

export const ATTACKS = [
  "requests",
  "searches",
  "streams",
  "subscriptions",
  "stalled sockets",
  "frames",
  "nested frames",
  "full frames",
  "escaped frames",
  "journal",
  "connections",
] as const;

export interface Target {
  kind: (typeof ATTACKS)[number];
  url: string;
  /** The attacker's credentials. */
  headers: Record<string, string>;
  /** A session with a long log, readable by the attacker. */
  session: string;
  runnerToken: string;
}

export interface Attack {
  /** Ends the attack. Returns a count for each kind of answer. */
  stop(): Promise<Record<string, number>>;
}

/** Resolves when the attack is under way. */
export async function startAttack(target: Target): Promise<Attack> {
  const file = join(import.meta.dirname, "attacker.ts");
  const child = spawn(process.execPath, [file, JSON.stringify(target)], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const ended = once(child, "exit");
  let output = "";
  child.stdout.setEncoding("utf8");
  child.stdout.on("data", (piece: string) => {
    output += piece;
  });
  await Promise.race([once(child.stdout, "data"), ended]);
  return {
    async stop() {
      child.stdin.end();
      const [code] = await ended;
      if (code !== 0) throw new Error(`The attacker ended with ${code}.`);
      return JSON.parse(output.slice(output.indexOf("\n") + 1)) as Record<string, number>;
    },
  };
}

/** Starts an attacker beside a test, and hears what it was answered. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";

export const ATTACKS = [
  "requests",
  "searches",
  "streams",
  "subscriptions",
  "stalled sockets",
  "frames",
  "nested frames",
  "full frames",
  "connections",
] as const;

export interface Target {
  kind: (typeof ATTACKS)[number];
  url: string;
  /** Who the attacker is. */
  headers: Record<string, string>;
  /** With a long log that the attacker may read. */
  session: string;
  runnerToken: string;
}

export interface Attack {
  /** Ends it. Returns how often the attacker saw what. */
  stop(): Promise<Record<string, number>>;
}

export function startAttack(target: Target): Attack {
  const file = join(import.meta.dirname, "attacker.ts");
  const child = spawn(process.execPath, [file, JSON.stringify(target)], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const output = text(child.stdout);
  const ended = once(child, "exit");
  return {
    async stop() {
      child.stdin.end();
      const [code] = await ended;
      if (code !== 0) throw new Error(`The attacker ended with ${code}.`);
      return JSON.parse(await output) as Record<string, number>;
    },
  };
}

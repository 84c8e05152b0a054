/** A probe: one attempt to get out, and the check that it failed. */
import { existsSync } from "node:fs";
import { collectText } from "#execution/sandboxes/collect-text.ts";
import { isDead, readProcess } from "#execution/sandboxes/process-table.ts";
import type { Sandbox } from "#execution/sandboxes/sandbox.ts";
import { isDamaged, type Stage } from "./stage.ts";

export interface Probe {
  name: string;
  /** Prints the canary or the word ESCAPED on success, or does damage outside. */
  script(stage: Stage): string;
  /** A file of the machine that exists only if the probe got out. */
  evidence?(stage: Stage): string;
  /** The runner's later work; its result is searched for the canary. */
  afterwards?(stage: Stage): Promise<string>;
  /** Must be printed, to show that the probe reached its target. */
  expects?: RegExp;
  /** Tries to kill a process, which ends a moment later if it succeeds. */
  kills?: boolean;
  online?: boolean;
  /** The same script gets out without a sandbox: for everyone, or for root. */
  control?: "always" | "root";
}

export interface Outcome {
  escaped: boolean;
  /** The probe did not reach its target. */
  missed: boolean;
  output: string;
}

export const ESCAPED = "ESCAPED";
const TIMEOUT_MS = 10_000;

export async function tryProbe(probe: Probe, stage: Stage, sandbox: Sandbox): Promise<Outcome> {
  const victim = stage.victim();
  const running = sandbox.run({
    argv: ["/bin/sh", "-c", probe.script(stage)],
    timeoutMs: TIMEOUT_MS,
  });
  running.stdin.end();
  const [stdout, stderr] = await Promise.all([
    collectText(running.stdout, 1024 ** 2),
    collectText(running.stderr),
    running.ended,
  ]);
  const later = (await probe.afterwards?.(stage)) ?? "";
  const output = `${stdout}\n${stderr}\n${later}`;
  if (probe.kills) await waitForDeath(victim.pid as number);
  const escaped =
    output.includes(stage.canary) ||
    output.includes(ESCAPED) ||
    isDamaged(stage) ||
    !isAlive(victim.pid as number) ||
    existsSync(probe.evidence?.(stage) ?? "");
  return { escaped, missed: !escaped && !(probe.expects?.test(output) ?? true), output };
}

async function waitForDeath(pid: number): Promise<void> {
  for (let i = 0; i < 10 && isAlive(pid); i++) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

function isAlive(pid: number): boolean {
  return !isDead(readProcess(pid));
}

/** The workspace's own sandbox, as an agent has it. */
export function sandboxFor({ online }: Probe, stage: Stage): Sandbox {
  return online ? stage.online : stage.workspace.sandbox;
}

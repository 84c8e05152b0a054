/** Runs all probes in the sandbox, and those with a control once more without one. */
import { type Outcome, type Probe, sandboxFor, tryProbe } from "./probe.ts";
import { fileProbes } from "./probes/files.ts";
import { gitProbes } from "./probes/git.ts";
import { kernelProbes } from "./probes/kernel.ts";
import { networkProbes } from "./probes/network.ts";
import { processProbes } from "./probes/processes.ts";
import { projectProbes } from "./probes/projects.ts";
import type { Stage } from "./stage.ts";

export const probes: readonly Probe[] = [
  ...fileProbes,
  ...kernelProbes,
  ...processProbes,
  ...networkProbes,
  ...gitProbes,
  ...projectProbes,
];

export interface Verdict {
  name: string;
  passed: boolean;
  why: string;
  output: string;
}

export async function runProbe(probe: Probe, stage: Stage): Promise<Verdict> {
  const outcome = await tryProbe(probe, stage, sandboxFor(probe, stage));
  return { name: probe.name, passed: !outcome.escaped && !outcome.missed, ...explain(outcome) };
}

export function controls(): Probe[] {
  const isRoot = process.getuid?.() === 0;
  return probes.filter(({ control }) => control === "always" || (control === "root" && isRoot));
}

/** Runs the same script without a sandbox: it must succeed, or the probe proves nothing. */
export async function runControl(probe: Probe, stage: Stage): Promise<Verdict> {
  const outcome = await tryProbe(probe, stage, stage.control);
  const why = outcome.escaped ? "" : "gets nothing even without a sandbox";
  return { name: probe.name, passed: outcome.escaped, why, output: outcome.output };
}

function explain({ escaped, missed, output }: Outcome): { why: string; output: string } {
  return { why: escaped ? "GOT OUT" : missed ? "did not try what it meant to" : "", output };
}

/** A short round; `npm run test:escape` runs all probes and their controls. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bubblewrapFile } from "#test/services/bubblewrap.ts";
import { kernelProbes } from "./probes/kernel.ts";
import { networkProbes } from "./probes/network.ts";
import { probes, runProbe } from "./run-probes.ts";
import { buildStage, type Stage } from "./stage.ts";

/**
 * Groups of similar probes of which a sample is run; those through the proxy are also the slowest.
 */
const alike = [
  { group: kernelProbes, every: 4 },
  { group: networkProbes, every: 8 },
];
const left = alike.flatMap(({ group, every }) => group.filter((_, i) => i % every !== 0));
const chosen = probes.filter((probe) => !left.includes(probe));

describe.skipIf(!bubblewrapFile)("nothing gets out of the sandbox", () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await buildStage(bubblewrapFile as string);
  });
  afterAll(async () => {
    await stage.close();
  });

  it("has unique probe names, and enough probes", () => {
    expect(new Set(probes.map(({ name }) => name)).size).toBe(probes.length);
    expect(probes.length).toBeGreaterThanOrEqual(60);
  });

  it.each(chosen)("$name", async (probe) => {
    const { passed, why, output } = await runProbe(probe, stage);
    expect(passed, `${why}: ${output}`).toBe(true);
  });
});

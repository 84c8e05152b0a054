/** A short round; `npm run test:escape` runs all probes and their controls. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bubblewrapFile } from "#test/services/bubblewrap.ts";
import { probes, runProbe } from "./run-probes.ts";
import { buildStage, type Stage } from "./stage.ts";

/** Those that go through the proxy take ten times as long, and are much alike. */
const chosen = probes.filter(({ online }, i) => !online || i % 6 === 0);

describe.skipIf(!bubblewrapFile)("nothing gets out of the sandbox", () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await buildStage(bubblewrapFile as string);
  });
  afterAll(async () => {
    await stage.close();
  });

  it("has no two probes of one name, and enough of them", () => {
    expect(new Set(probes.map(({ name }) => name)).size).toBe(probes.length);
    expect(probes.length).toBeGreaterThanOrEqual(60);
  });

  it.each(chosen)("$name", async (probe) => {
    const { passed, why, output } = await runProbe(probe, stage);
    expect(passed, `${why}: ${output}`).toBe(true);
  });
});

/** Metrics as Prometheus reads them; the guide, the alerts and the dashboard name no others. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Platform, startPlatform } from "#test/platform.ts";
import { createTestDatabase, postgresUrl, type TestDatabase } from "#test/services/postgres.ts";

const ROOT = join(import.meta.dirname, "../../..");

function story(name: string, database: () => Promise<TestDatabase | undefined>): void {
  describe(name, () => {
    let platform: Platform;
    let made: TestDatabase | undefined;
    beforeAll(async () => {
      made = await database();
      platform = await startPlatform({ env: made ? { MUSTER_DATABASE_URL: made.url } : {} });
      const session = await platform.createSession({ runtime: "scripted" });
      await platform.promptIn((await platform.prompt(session.id, "say hello")).id, "settled");
      await platform.promptIn(
        (await platform.prompt(session.id, "fail out of luck")).id,
        "settled",
      );
    });
    afterAll(async () => {
      await platform.stop();
      await made?.drop();
    });

    const scrape = async () => {
      const headers = { authorization: `Bearer ${platform.key}` };
      const answer = await fetch(`${platform.url}/metrics`, { headers });
      expect(answer.status).toBe(200);
      return answer.text();
    };

    it("count the outcomes of turns and the connected runner", async () => {
      const text = await scrape();
      const value = (sample: RegExp) => Number(sample.exec(text)?.[1]);
      expect(value(/^muster_turns_total\{outcome="completed"\} (\d+)$/m)).toBe(1);
      expect(value(/^muster_turns_failed_total\{code="script_failed"\} (\d+)$/m)).toBe(1);
      expect(value(/^muster_turn_seconds_count (\d+)$/m)).toBe(2);
      expect(value(/^muster_runner_up\{runner="\w+",name="[^"]+"\} (\d)$/m)).toBe(1);
      expect(value(/^muster_runs_ready (\d+)$/m)).toBe(0);
      const stored = value(/^muster_database_bytes (\d+)$/m);
      const logged = value(/^muster_database_log_bytes (\d+)$/m);
      expect(stored + logged).toBeGreaterThan(10_000);
      expect(value(/^muster_runner_places\{runner="\w+",name="[^"]+"\} (\d+)$/m)).toBeGreaterThan(
        0,
      );
      expect(value(/^muster_disk_free_bytes (\d+)$/m)).toBeGreaterThan(0);
    });

    it.each([
      "docs/guide/operate.md",
      "docs/monitoring/prometheus-alerts.yml",
      "docs/monitoring/grafana-dashboard.json",
    ])("has every figure that %s names", async (file) => {
      const served = new Set((await scrape()).match(/^# TYPE \w+/gm)?.map((line) => line.slice(7)));
      const named = readFileSync(join(ROOT, file), "utf8").match(/\bmuster_[a-z0-9_]+[a-z0-9]\b/g);
      const families = new Set(named?.map((one) => one.replace(/_(?:bucket|count|sum)$/, "")));
      const known = (one: string) =>
        served.has(one) || one === "muster_process" || one === "muster_nodejs";
      expect(families.size).toBeGreaterThan(5);
      expect([...families].filter((one) => !known(one))).toEqual([]);
    });
  });
}

story("figures on sqlite", async () => undefined);
describe.skipIf(!postgresUrl)("with a PostgreSQL server", () => {
  story("figures on postgres", createTestDatabase);
});

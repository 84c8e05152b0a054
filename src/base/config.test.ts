import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { loadConfig } from "./config.ts";

describe("settings", () => {
  let home: string;
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), "muster-config-"));
  });
  afterEach(() => rmSync(home, { recursive: true, force: true }));

  const load = (env: Record<string, string> = {}) => loadConfig({ MUSTER_HOME: home, ...env });
  const writeFile = (content: string) => {
    mkdirSync(home, { recursive: true });
    writeFileSync(join(home, "muster.config.json"), content);
  };

  it("have defaults that need nothing", () => {
    expect(load()).toMatchObject({
      host: "127.0.0.1",
      port: 4747,
      databaseUrl: `sqlite:${join(home, "muster.db")}`,
      warnings: [],
    });
  });

  it("come from the file, and the environment goes before it", () => {
    writeFile('{"MUSTER_PORT": 5000, "MUSTER_LOG_LEVEL": "debug"}');
    expect(load({ MUSTER_PORT: "6000" })).toMatchObject({ port: 6000, logLevel: "debug" });
  });

  const bad: [string, Record<string, string>, RegExp][] = [
    ["a port that is no number", { MUSTER_PORT: "http" }, /MUSTER_PORT: must be a whole number/],
    ["a port that is too high", { MUSTER_PORT: "70000" }, /MUSTER_PORT/],
    ["another database", { MUSTER_DATABASE_URL: "mysql://x" }, /MUSTER_DATABASE_URL.*sqlite/],
    ["a model without provider", { MUSTER_MODEL: "gpt" }, /MUSTER_MODEL.*provider\/model/],
    ["a short secret", { MUSTER_SECRET_KEY: "abc" }, /MUSTER_SECRET_KEY/],
    ["an address that is none", { MUSTER_PUBLIC_URL: "muster" }, /MUSTER_PUBLIC_URL/],
    ["a level that is none", { MUSTER_LOG_LEVEL: "loud" }, /MUSTER_LOG_LEVEL/],
    ["a flag that is none", { MINIMAL_UI: "maybe" }, /MINIMAL_UI/],
    ["a bus that is not there", { MUSTER_NATS_URL: "nats://localhost" }, /MUSTER_NATS_URL/],
  ];
  it.each(bad)("refuse %s, by name", (_name, env, message) => {
    expect(() => load(env)).toThrow(message);
  });

  it("refuse a file that is broken, or names what does not exist", () => {
    writeFile("{");
    expect(() => load()).toThrow(/not JSON/);
    writeFile('{"MUSTER_COLOUR": "red"}');
    expect(() => load()).toThrow(/MUSTER_COLOUR/);
  });

  it("fall back only for the number of workers, with a warning", () => {
    const { orchestration, warnings } = load({ ORCHESTRATION_MAX_WORKERS_PER_SUPERVISOR: "1000" });
    expect(orchestration.maxWorkers).toBe(8);
    expect(warnings).toHaveLength(1);
  });

  it.each(["0", "101", "-1", "many", "2.5", "Infinity"])("%s workers are 8", (count) => {
    const { orchestration, warnings } = load({ ORCHESTRATION_MAX_WORKERS_PER_SUPERVISOR: count });
    expect(orchestration.maxWorkers).toBe(8);
    expect(warnings).toEqual([expect.stringContaining("ORCHESTRATION_MAX_WORKERS_PER_SUPERVISOR")]);
  });

  it("take supervisor mode away by either name", () => {
    const open = { disabled: false, minimalUi: false, maxWorkers: 8, allowDelete: false };
    expect(load().orchestration).toEqual(open);
    for (const env of [{ ORCHESTRATION_DISABLED: "true" }, { ORCHESTRATION_ENABLED: "false" }])
      expect(load(env).orchestration).toEqual({ ...open, disabled: true });
    expect(load({ ORCHESTRATION_ENABLED: "true", MINIMAL_UI: "1" }).orchestration).toEqual({
      ...open,
      minimalUi: true,
    });
  });
});

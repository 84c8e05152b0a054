import { expect, it } from "vitest";
import { silentLog } from "#base/log.ts";
import { MachineReports } from "./machine-reports.ts";

it("resumes what waited when a report of room had to be sent again", async () => {
  const done: string[] = [];
  let isBroken = false;
  const store = {
    async transaction() {
      if (isBroken) throw new Error("the disk is full");
    },
    async read() {
      done.push("resume");
      return [];
    },
  };
  const engine = { store, announcer: { hint() {} } } as never;
  const reports = new MachineReports({ engine, log: silentLog, ready: () => done.push("ready") });
  const runner = { id: "run_1", boot_id: "boot", org_id: "org_1" } as never;
  const tell = (isLow: boolean) =>
    reports.report(runner, { op: "disk", id: 1, disk: { isLow } } as never);
  await tell(true);
  expect(reports.isDiskLow).toBe(true);
  isBroken = true;
  await expect(tell(false)).rejects.toThrow("full");
  expect(done).toEqual([]);
  isBroken = false;
  await tell(false);
  expect(reports.isDiskLow).toBe(false);
  expect(done).toEqual(["resume", "ready"]);
});

import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Cleanup } from "../../test/services/servers/cleanup.ts";
import type { Prepared } from "../../test/services/servers/services.ts";
import { type Counts, none } from "./counts.ts";
import type { Round } from "./rounds.ts";

export async function runRound(
  round: Round,
  services: Prepared,
  cleanup: Cleanup,
): Promise<Counts> {
  if (round.name === "unit") return runVitest(round, services, cleanup);
  const lacking = round.needs.find((name) => services.missing.has(name));
  if (lacking) {
    console.log(`Round ${round.name} skipped: no ${lacking}.`);
    return { ...none, skipped: 1 };
  }
  console.log(`\nRound ${round.name}`);
  const ok = await run(round, services, cleanup);
  console.log(`Round ${round.name} ${ok ? "passed" : "FAILED"}.`);
  return ok ? { ...none, passed: 1 } : { ...none, failed: 1 };
}

async function runVitest(round: Round, services: Prepared, cleanup: Cleanup): Promise<Counts> {
  const report = join(cleanup.createFolder(), "report.json");
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`];
  const command = [...round.command, ...reporters];
  const ok = await run({ ...round, command }, services, cleanup);
  const counts = await readReport(report);
  // A file that cannot be loaded fails the run without a failed test.
  return ok || counts.failed > 0 ? counts : { ...counts, failed: 1 };
}

async function run(round: Round, services: Prepared, cleanup: Cleanup): Promise<boolean> {
  const child = cleanup.spawn(process.execPath, round.command, {
    env: { ...process.env, ...services.variables },
    stdio: ["ignore", "inherit", "inherit"],
  });
  const timer = setTimeout(() => {
    console.log(`Round ${round.name} took longer than ${round.timeoutMs / 60_000} minutes.`);
    child.kill("SIGKILL");
  }, round.timeoutMs);
  const [code] = await once(child, "exit");
  clearTimeout(timer);
  return code === 0;
}

interface VitestReport {
  numPassedTests: number;
  numFailedTests: number;
  numPendingTests: number;
  numTodoTests: number;
}

async function readReport(file: string): Promise<Counts> {
  const text = await readFile(file, "utf8").catch(() => undefined);
  if (text === undefined) return { ...none, failed: 1 };
  const report = JSON.parse(text) as VitestReport;
  return {
    passed: report.numPassedTests,
    failed: report.numFailedTests,
    skipped: report.numPendingTests + report.numTodoTests,
  };
}

/** One storm on one database, from an empty platform to a check that the server still works. */
import { startPlatform } from "#test/platform.ts";
import { RequestStorm, type StormReport } from "./request-storm.ts";

export interface Outcome {
  report: StormReport;
  /**
   * Problems besides 5xx answers: errors in the log, unhandled rejections, a server that does not
   * work.
   */
  problems: string[];
}

export async function runStorm({
  databaseUrl,
  seed,
  count,
  progress = () => {},
}: {
  /** Undefined for SQLite. */
  databaseUrl: string | undefined;
  seed: number;
  count: number;
  progress?(line: string): void;
}): Promise<Outcome> {
  const problems: string[] = [];
  const logLines: string[] = [];
  const onRejection = (reason: unknown) =>
    void problems.push(`unhandled rejection: ${String((reason as Error)?.stack ?? reason)}`);
  process.on("unhandledRejection", onRejection);
  const platform = await startPlatform({
    runner: false,
    logLines,
    env: { ...(databaseUrl === undefined ? {} : { MUSTER_DATABASE_URL: databaseUrl }) },
  });
  try {
    const storm = new RequestStorm(platform, seed);
    const report = await storm.run(count, ({ sent, failures }) =>
      progress(`  ${sent} sent, ${failures.length} failures`),
    );
    problems.push(...logLines.map((line) => `logged: ${line.slice(0, 2_000)}`).slice(0, 20));
    const ready = await platform.request("GET", "/ready");
    if (ready.status !== 200) problems.push(`/ready answers ${ready.status}`);
    // A request may have removed the runner or revoked its token.
    await platform.restartRunner();
    const session = await platform.createSession({ runtime: "echo" });
    const { id } = await platform.prompt(session.id, "still there?");
    const { outcome } = await platform.promptIn(id, "settled");
    if (outcome !== "completed") problems.push(`a turn afterwards ended ${outcome}`);
    return { report, problems };
  } finally {
    await platform.stop();
    process.off("unhandledRejection", onRejection);
  }
}

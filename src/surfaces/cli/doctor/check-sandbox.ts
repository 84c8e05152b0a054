/** Checks the sandbox of this machine, and of the runners that a server on this machine knows. */

import type { Config } from "#base/config.ts";
import { tryBubblewrap } from "#base/machine/try-bubblewrap.ts";
import { isIsolated, isUnsandboxed, SANDBOX_FIXES } from "#protocol/reports/sandboxes.ts";
import type { Runner } from "#protocol/runs.ts";
import { type Finding, fail, ok, warn } from "./finding.ts";

/** Name of its findings. */
export const SANDBOX = "sandbox";
const OTHER_WAYS =
  "Then reload the page, or let agents work without a sandbox: muster runners allow-unsandboxed ID";

/** `runners`: those of the local server; none when it does not respond. */
export async function checkSandbox(
  { sandbox, path }: Pick<Config, "sandbox" | "path">,
  runners: readonly Runner[],
): Promise<Finding[]> {
  const open = runners
    .filter(({ sandbox: report }) => isUnsandboxed(report))
    .map((runner) =>
      warn(
        SANDBOX,
        `agents work without a sandbox on ${runner.name} (${runner.id})`,
        runner.unsandboxed === null
          ? "Unset MUSTER_SANDBOX there to use bubblewrap."
          : `Revoke it with: muster runners require-sandbox ${runner.id}`,
      ),
    );
  const elsewhere = runners
    .filter(({ sandbox: report }) => !isIsolated(report) && !isUnsandboxed(report))
    .map((runner) => `${runner.name} (${runner.id})`);
  const here = await checkHere(sandbox, path);
  if (here.level === "ok" && elsewhere.length > 0)
    return [
      here,
      fail(SANDBOX, `no sandbox on ${elsewhere.join(", ")}`, "See: muster runners ls"),
      ...open,
    ];
  return [here, ...open];
}

async function checkHere(sandbox: Config["sandbox"], path: string): Promise<Finding> {
  if (sandbox === "local")
    return warn(
      SANDBOX,
      "MUSTER_SANDBOX is local: agents run commands on this machine without a sandbox",
      "Unset it to use bubblewrap.",
    );
  const trial = await tryBubblewrap(path);
  if (trial.works) return ok(SANDBOX, "bubblewrap works");
  const mend = trial.fix
    ? `${SANDBOX_FIXES[trial.fix]}\n${OTHER_WAYS}`
    : "Install bubblewrap and allow unprivileged user namespaces, or run a runner on another machine.";
  return fail(SANDBOX, `${trial.why} Agents cannot run commands on this machine.`, mend);
}

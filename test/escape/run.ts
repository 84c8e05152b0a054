// Tries every known way out of the sandbox, from inside, on the path that agents use. Ends with the
// line `N passed, N failed`.
//
//   node test/escape/run.ts [--verbose] [words of a probe's name]
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createBubblewrap } from "#execution/sandboxes/bubblewrap/bubblewrap.ts";
import { DEFAULT_LIMITS } from "#execution/sandboxes/sandbox.ts";
import { bubblewrapFile } from "#test/services/bubblewrap.ts";
import { controls, probes, runControl, runProbe, type Verdict } from "./run-probes.ts";
import { buildStage } from "./stage.ts";

const verbose = process.argv.includes("--verbose");
const filter = process.argv
  .slice(2)
  .filter((word) => !word.startsWith("--"))
  .join(" ");
const counts = { passed: 0, failed: 0 };

function count(kind: string, { name, passed, why, output }: Verdict): void {
  counts[passed ? "passed" : "failed"]++;
  if (!passed || verbose) console.log(`${passed ? "ok  " : "FAIL"} ${kind}: ${name} ${why}`);
  if (!passed) console.log(output.trim().replace(/^/gm, "       ").slice(0, 600));
}

const bwrapFile =
  bubblewrapFile ?? spawnSync("sh", ["-c", "command -v bwrap"]).stdout.toString().trim();
if (!bwrapFile) {
  console.log("Bubblewrap is not installed: apt-get install bubblewrap");
  process.exit(1);
}

const stage = await buildStage(bwrapFile);
try {
  const chosen = probes.filter(({ name }) => name.includes(filter));
  for (const probe of chosen) count("probe", await runProbe(probe, stage));
  const checked = controls().filter(({ name }) => name.includes(filter));
  for (const probe of checked) count("control", await runControl(probe, stage));
  if (!filter) count("absence", await tryWithout());
  console.log(
    `${chosen.length} probes from inside, ${checked.length} of them checked to succeed without a sandbox`,
  );
} finally {
  await stage.close();
}
console.log(`${counts.passed} passed, ${counts.failed} failed`);
process.exit(counts.failed > 0 ? 1 : 0);

/** Without bubblewrap on the PATH, nothing may run. */
async function tryWithout(): Promise<Verdict> {
  const folder = mkdtempSync(join(tmpdir(), "muster-absent-"));
  const provider = createBubblewrap({ folder, path: folder });
  const spec = {
    workspaceFolder: folder,
    scratchFolder: folder,
    allowedHosts: [],
    limits: DEFAULT_LIMITS,
  };
  try {
    const probe = await provider.probe();
    const refused = await provider.open(spec).then(
      () => false,
      (error: unknown) => (error as { code?: string }).code === "sandbox_unavailable",
    );
    const told = !probe.usable && probe.why.includes("Bubblewrap is not installed");
    return {
      name: "no bubblewrap",
      passed: told && refused,
      why: "",
      output: JSON.stringify(probe),
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

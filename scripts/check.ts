// Runs every check that a change must pass: style, types, boundaries, dead code, tests.
import { spawnSync } from "node:child_process";

const bin = (path: string) => `node_modules/${path}`;

const steps: { name: string; command: string[] }[] = [
  {
    name: "format and lint",
    command: [bin("@biomejs/biome/bin/biome"), "ci", "--error-on-warnings"],
  },
  { name: "types", command: [bin("typescript/bin/tsc"), "-p", "tsconfig.json"] },
  { name: "types of the web", command: [bin("typescript/bin/tsc"), "-p", "tsconfig.web.json"] },
  {
    name: "boundaries",
    command: [
      "--import",
      "./scripts/check/typescript-for-depcruise.mjs",
      bin("dependency-cruiser/bin/dependency-cruiser.mjs"),
      "src",
      "test",
      "examples",
    ],
  },
  { name: "forgotten columns, states and settings", command: ["scripts/check/unused.ts"] },
  { name: "writes of states", command: ["scripts/check/state-writes.ts"] },
  { name: "codes of refusals", command: ["scripts/check/refusal-codes.ts"] },
  { name: "table of routes", command: ["scripts/check/route-table.ts"] },
  { name: "dead code", command: [bin("knip/bin/knip.js")] },
];

const failed = steps.filter(({ name, command }) => !passes(name, command));
if (failed.length > 0) {
  console.log(`Failed: ${failed.map(({ name }) => name).join(", ")}. The tests were not run.`);
  process.exit(1);
}
await import("./test.ts");

function passes(name: string, command: string[]): boolean {
  const startedAt = Date.now();
  const { status, stdout, stderr } = spawnSync(process.execPath, command, { encoding: "utf8" });
  const seconds = ((Date.now() - startedAt) / 1000).toFixed(1);
  console.log(`${status === 0 ? "ok    " : "FAILED"}  ${name} (${seconds} s)`);
  if (status !== 0) console.log(`${stdout}${stderr}`);
  return status === 0;
}

/**
 * The current program, bundled once for the whole run, so that edits do not change it on the way.
 */
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildPrograms } from "../../../scripts/build/programs.ts";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

export interface Bundle {
  program: string;
  remove(): void;
}

/** Inside node_modules, because native packages are resolved from the bundle's folder. */
export async function bundleProgram(): Promise<Bundle> {
  process.chdir(ROOT);
  const folder = join(ROOT, "node_modules/.cache/muster-faults", String(process.pid));
  mkdirSync(folder, { recursive: true });
  await buildPrograms(folder);
  return {
    program: join(folder, "muster.js"),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

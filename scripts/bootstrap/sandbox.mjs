// Gets bubblewrap ready, the sandbox for agents' commands: the system's, else installed by the
// package manager (as root), else the distribution's package unpacked beside the project. A machine
// where none of them works still starts: the server's page says what is missing.
import { accessSync, constants, existsSync, readFileSync, rmSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import { withLock } from "./lock.mjs";
import { inRoot } from "./paths.mjs";
import { runQuietly } from "./run-quietly.mjs";
import { findPackageManager, unpackDebianPackage } from "./sandbox-packages.mjs";

/** Folder of the unpacked package. */
const UNPACKED = inRoot(".cache/bubblewrap");
const PROBE_TIMEOUT_MS = 10_000;
// The options that the runner's sandboxes depend on; an old bubblewrap, or a system that forbids
// namespaces, fails here as it would fail there.
const PROBE = [
  ...["--unshare-all", "--unshare-user", "--disable-userns", "--die-with-parent", "--new-session"],
  ...["--uid", "1000", "--gid", "1000", "--cap-drop", "ALL", "--ro-bind", "/", "/"],
  ...["--proc", "/proc", "--dev", "/dev", "--remount-ro", "/proc", "--remount-ro", "/", "true"],
];

/**
 * Resolves with the environment for the program: its PATH leads to a working bubblewrap, if there
 * is one.
 */
export async function ensureSandbox(env, progress) {
  if (process.platform !== "linux" || wantsNone(env)) return env;
  const installed = findProgram("bwrap", env.PATH);
  // Installing again does not repair a bubblewrap that does not work.
  if (installed !== undefined) return env;
  if (!(await works(unpackedFile()))) await install(env, progress);
  return withUnpacked(env);
}

/** Adds the unpacked package to the end of the PATH, so that the system's program comes first. */
export function withUnpacked(env) {
  if (!existsSync(unpackedFile())) return env;
  const path = [env.PATH, join(UNPACKED, "usr/bin")].filter(Boolean).join(delimiter);
  return { ...env, PATH: path };
}

const unpackedFile = () => join(UNPACKED, "usr/bin/bwrap");

/** True for people who have chosen to work without a sandbox in their settings. */
function wantsNone(env) {
  return (env.MUSTER_SANDBOX ?? settingsFile(env).MUSTER_SANDBOX) === "local";
}

/** The program reports errors in this file. */
function settingsFile({ MUSTER_HOME }) {
  try {
    const home = MUSTER_HOME || join(homedir(), ".muster");
    return JSON.parse(readFileSync(join(home, "muster.config.json"), "utf8")) ?? {};
  } catch {
    return {};
  }
}

async function install(env, progress) {
  // An unpacked one that does not work is in the way, unless it belongs to someone else and cannot
  // be removed.
  if (!removeUnpacked()) return;
  const manager = findPackageManager((name) => findProgram(name, env.PATH));
  if (process.getuid() === 0) {
    if (!manager) return;
    const isDone = await attempt(progress, `Installing bubblewrap with ${manager.name}`, () =>
      manager.install(env),
    );
    const file = isDone && findProgram("bwrap", env.PATH);
    if (file && !(await works(file))) {
      progress.say("Bubblewrap is installed, but this system does not let it make a sandbox.");
    }
    return;
  }
  if (manager?.name !== "apt-get") return;
  await attempt(progress, "Unpacking bubblewrap beside the project", async () => {
    await unpackDebianPackage(manager.file, UNPACKED, env);
    if (await works(unpackedFile())) return;
    rmSync(UNPACKED, { recursive: true, force: true });
    throw new Error("this system does not let it make a sandbox");
  });
}

function removeUnpacked() {
  try {
    rmSync(UNPACKED, { recursive: true, force: true });
    return true;
  } catch {
    return false;
  }
}

/**
 * Reports the step and, if it fails, the reason in a sentence; a failure here must not stop the
 * start.
 */
async function attempt(progress, what, work) {
  try {
    await withLock(progress, () => progress.step(what, work));
    return true;
  } catch (error) {
    progress.say(`Bubblewrap could not be set up: ${error.message}. The web page says what to do.`);
    return false;
  }
}

/** Runs `true` in a sandbox. */
async function works(file) {
  if (!existsSync(file)) return false;
  const limits = { timeout: PROBE_TIMEOUT_MS, killSignal: "SIGKILL" };
  const { code } = await runQuietly(file, PROBE, limits).catch(() => ({ code: 1 }));
  return code === 0;
}

function findProgram(name, path = "") {
  return path
    .split(delimiter)
    .filter(Boolean)
    .map((folder) => join(folder, name))
    .find(isProgram);
}

function isProgram(file) {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

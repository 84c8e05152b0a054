// Sources of bubblewrap: the package managers that can install it, and Debian's package.
import { mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { lastLines, runQuietly } from "./run-quietly.mjs";

const PACKAGE = "bubblewrap";
/** Limit for all commands of one attempt together: a start must not hang on a slow mirror. */
const TIME_LIMIT_MS = 180_000;
// A mirror that does not answer is given up early; another running apt is waited for.
const APT = [
  ...["-o", "Acquire::http::Timeout=20", "-o", "Acquire::https::Timeout=20"],
  ...["-o", "Acquire::Retries=1", "-o", "DPkg::Lock::Timeout=60"],
];

/** Commands to try per package manager, one after the other, in order of preference. */
const MANAGERS = {
  "apt-get": (file) => [
    [file, ...APT, "install", "--yes", "--no-install-recommends", PACKAGE],
    // A fresh machine often has no package lists yet.
    [file, ...APT, "update"],
    [file, ...APT, "install", "--yes", "--no-install-recommends", PACKAGE],
  ],
  dnf: (file) => [[file, "install", "--assumeyes", PACKAGE]],
  pacman: (file) => [
    [file, "--sync", "--noconfirm", "--needed", PACKAGE],
    [file, "--sync", "--refresh", "--noconfirm", "--needed", PACKAGE],
  ],
  apk: (file) => [[file, "add", "--no-cache", PACKAGE]],
};
const ENV = { DEBIAN_FRONTEND: "noninteractive", LC_ALL: "C.UTF-8" };

/** The first package manager on the PATH, with `install(env)`, which throws its error output. */
export function findPackageManager(find) {
  for (const [name, commandsFor] of Object.entries(MANAGERS)) {
    const file = find(name);
    if (file !== undefined) {
      return { name, file, install: (env) => runUntilInstalled(commandsFor(file), env) };
    }
  }
  return undefined;
}

/** Stops at the first install that succeeds; if none does, fails with the last command's error. */
async function runUntilInstalled(commands, env) {
  const run = createRunner(env);
  for (const [index, command] of commands.entries()) {
    const { code, output } = await run(command);
    const isUpdate = command.includes("update");
    if (code === 0 && !isUpdate) return;
    if (index === commands.length - 1) throw failureOf(command, output);
  }
}

/**
 * Downloads Debian's package and unpacks it into `folder`, without root. apt checks the package
 * against the distribution's signed lists. Where the system has no lists, they are downloaded into
 * a folder of our own.
 */
export async function unpackDebianPackage(aptGet, folder, env) {
  const work = `${folder}.new`;
  rmSync(work, { recursive: true, force: true });
  const own = join(work, "apt");
  for (const part of ["lists/partial", "cache/archives/partial"]) {
    mkdirSync(join(own, part), { recursive: true });
  }
  try {
    const run = createRunner(env, work);
    const ownLists = ["-o", `Dir::State::lists=${own}/lists`, "-o", `Dir::Cache=${own}/cache`];
    if ((await run([aptGet, ...APT, "download", PACKAGE])).code !== 0) {
      await must(run, [aptGet, ...APT, ...ownLists, "update"]);
      await must(run, [aptGet, ...APT, ...ownLists, "download", PACKAGE]);
    }
    const file = readdirSync(work).find((name) => name.endsWith(".deb"));
    if (file === undefined) throw new Error("apt-get downloaded nothing");
    await must(run, ["dpkg-deb", "-x", join(work, file), join(work, "package")]);
    writeFileSync(join(work, "package", "origin"), `${file}\n`);
    rmSync(folder, { recursive: true, force: true });
    renameSync(join(work, "package"), folder);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

async function must(run, command) {
  const { code, output } = await run(command);
  if (code !== 0) throw failureOf(command, output);
}

function createRunner(env, cwd) {
  const endsAt = Date.now() + TIME_LIMIT_MS;
  return ([file, ...args]) => {
    const timeout = Math.max(1, endsAt - Date.now());
    const options = { env: { ...env, ...ENV }, timeout, ...(cwd === undefined ? {} : { cwd }) };
    return runQuietly(file, args, options).catch((error) => ({ code: 1, output: error.message }));
  };
}

function failureOf([file, ...args], output) {
  const verb = args.find((word) => /^(install|update|download|add|--sync|-x)$/.test(word));
  const said = lastLines(output, 2).replaceAll(/\s*\n\s*/g, "; ");
  return new Error(`${file.split("/").at(-1)} ${verb} failed (${said || "it said nothing"})`);
}

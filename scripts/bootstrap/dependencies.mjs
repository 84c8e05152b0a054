// Installs the packages of package-lock.json when they are missing or have changed.
import { createHash } from "node:crypto";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { withLock } from "./lock.mjs";
import { npmErrors, runNpm } from "./npm.mjs";
import { inRoot, root } from "./paths.mjs";
import { Stop } from "./progress.mjs";

const LOCK_FILE = inRoot("package-lock.json");
const INSTALLED = inRoot("node_modules/.package-lock.json");
const STAMP = inRoot("node_modules/.muster-stamp");

export async function ensureDependencies(node, progress) {
  const wanted = wantedStamp();
  if (readStamp() === wanted) return;
  await withLock(progress, async () => {
    if (readStamp() === wanted) return;
    if (!isInstalled()) await install(node, progress);
    writeFileSync(STAMP, wanted);
  });
}

function wantedStamp() {
  const lock = createHash("sha256").update(readFileSync(LOCK_FILE)).digest("hex");
  return `${lock} ${process.platform}-${process.arch}\n`;
}

function readStamp() {
  return existsSync(STAMP) ? readFileSync(STAMP, "utf8") : undefined;
}

/**
 * True after a developer's own `npm install`: npm's record of the install, written at its end,
 * names every package of the lock. This saves throwing away a correct node_modules.
 */
function isInstalled() {
  if (!existsSync(INSTALLED)) return false;
  const installed = JSON.parse(readFileSync(INSTALLED, "utf8")).packages;
  const locked = JSON.parse(readFileSync(LOCK_FILE, "utf8")).packages;
  const stray = Object.keys(installed).some((path) => !locked[path]);
  if (stray) return false;
  return Object.entries(locked).every(([path, entry]) => {
    if (path === "") return true;
    const found = installed[path];
    return found ? found.version === entry.version && existsSync(inRoot(path)) : entry.optional;
  });
}

async function install(node, progress) {
  rmSync(STAMP, { force: true });
  // Scripts stay off: prebuilt binaries come inside the packages, and nothing is compiled.
  const args = ["ci", "--ignore-scripts", "--no-audit", "--no-fund"];
  const { code, output } = await progress.step("Installing dependencies", () =>
    runNpm(node, args, root),
  );
  if (code === 0) return;
  throw new Stop(
    `${npmErrors(output)}\n\nThe dependencies could not be installed. Check the connection to the npm ` +
      "registry and the free disk space, then run this again.",
  );
}

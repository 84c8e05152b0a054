// Builds the parts a command needs when a source file they read has changed since the last build.
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { withLock } from "./lock.mjs";
import { inRoot, root } from "./paths.mjs";
import { Stop } from "./progress.mjs";
import { lastLines, runQuietly } from "./run-quietly.mjs";

const isTest = (path) => /\.(test|contract)\.tsx?$/.test(path);
const isBrowserOnly = (path) => /\/ui\/|^src\/surfaces\/web\//.test(path);

/** Source files of each part. Paths are relative to the root, with forward slashes. */
const parts = {
  programs: {
    folders: ["src", "scripts/build"],
    reads: (path) => !isTest(path) && !isBrowserOnly(path),
    result: "dist/muster.js",
  },
  web: {
    folders: ["src", "scripts/build"],
    reads: (path) =>
      !isTest(path) &&
      (isBrowserOnly(path) || /\/contract\.ts$|^src\/(protocol|base)\/|^scripts\//.test(path)),
    result: "dist/web/index.html",
  },
  docs: { folders: ["scripts/build"], reads: () => true, result: "dist/docs/swagger-ui.css" },
};
const READ_BY_ALL = ["package.json", "package-lock.json", "vite.config.ts", "scripts/build.ts"];

export async function ensureBuilt(names, node, progress) {
  if (staleOf(names).length === 0) return;
  await withLock(progress, async () => {
    const stale = staleOf(names);
    if (stale.length === 0) return;
    // Taken before building: a file edited meanwhile leaves the stamp out of date, never the build.
    const stamps = stale.map((name) => [name, fingerprint(parts[name])]);
    for (const name of stale) rmSync(stampFile(name), { force: true });
    await progress.step(`Building ${stale.join(", ")}`, () => build(stale, node));
    mkdirSync(inRoot("dist"), { recursive: true });
    for (const [name, stamp] of stamps) writeFileSync(stampFile(name), stamp);
  });
}

const stampFile = (name) => inRoot(`dist/.stamp-${name}`);

function staleOf(names) {
  return names.filter((name) => {
    const file = stampFile(name);
    if (!existsSync(file) || !existsSync(inRoot(parts[name].result))) return true;
    return readFileSync(file, "utf8") !== fingerprint(parts[name]);
  });
}

function fingerprint({ folders, reads }) {
  const files = folders.flatMap(listFiles).filter(reads);
  const hash = createHash("sha256");
  for (const path of [...files, ...READ_BY_ALL].sort()) {
    const stats = statSync(inRoot(path), { throwIfNoEntry: false });
    hash.update(`${path} ${stats?.mtimeMs} ${stats?.size}\n`);
  }
  return hash.digest("hex");
}

function listFiles(folder) {
  if (!existsSync(inRoot(folder))) return [];
  return readdirSync(inRoot(folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    return entry.isDirectory() ? listFiles(path) : [path];
  });
}

async function build(names, node) {
  const { code, output } = await runQuietly(node.file, [inRoot("scripts/build.ts"), ...names], {
    cwd: root,
    env: node.env,
  });
  if (code === 0) return;
  throw new Stop(
    `${lastLines(output, 40)}\n\nThe build failed. If you changed the sources, the message above says ` +
      "where; otherwise delete node_modules/ and dist/ and run this again.",
  );
}

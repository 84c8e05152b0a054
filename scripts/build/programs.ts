// Bundles the server, runner and command line. A bundle starts faster than hundreds of files from
// node_modules; splitting loads lazy imports only when they are used.
import { build } from "esbuild";
import { removeLeftovers } from "./leftovers.ts";

const entryPoints = ["src/main/muster.ts"];

// Native packages find their binary beside themselves; the others are optional and looked up with `require`.
const external = ["better-sqlite3", "pg-native", "bufferutil", "utf-8-validate"];

const requireForCommonJs = [
  'import { createRequire as __createRequire } from "node:module";',
  'import { fileURLToPath as __fileURLToPath } from "node:url";',
  "const require = __createRequire(import.meta.url);",
  "const __filename = __fileURLToPath(import.meta.url);",
  'const __dirname = __fileURLToPath(new URL(".", import.meta.url));',
].join("\n");

export async function buildPrograms(outdir = "dist"): Promise<void> {
  const { metafile } = await build({
    entryPoints,
    outdir,
    chunkNames: "chunks/[name]-[hash]",
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node24",
    external,
    banner: { js: requireForCommonJs },
    define: { "process.env.NODE_ENV": '"production"' },
    sourcemap: true,
    sourcesContent: false,
    metafile: true,
    logLevel: "silent",
  });
  await removeLeftovers(`${outdir}/chunks`, Object.keys(metafile.outputs));
}

#!/usr/bin/env node
/**
 * The entry. What was compiled is kept beside the built program, so later starts are quicker; then
 * the program itself is loaded.
 */
import { enableCompileCache } from "node:module";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = import.meta.dirname;
/** Built, this file lies in dist/; as source, in src/main/. */
const isBuilt = basename(here) !== "main";
if (isBuilt) enableCompileCache(join(here, "compiled"));

const { start } = await import("./program.ts");
start(process.argv.slice(2), {
  program: fileURLToPath(import.meta.url),
  filesFolder: isBuilt ? here : join(here, "../../dist"),
});

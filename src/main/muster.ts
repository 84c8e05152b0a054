#!/usr/bin/env node
/**
 * The entry. It keeps compiled code beside the built program, for faster starts, and then loads the program
 * itself.
 */
import { enableCompileCache } from "node:module";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = import.meta.dirname;
/** The built file is in dist/, the source in src/main/. */
const isBuilt = basename(here) !== "main";
if (isBuilt) enableCompileCache(join(here, "compiled"));

const { start } = await import("./program.ts");
start(process.argv.slice(2), {
  program: fileURLToPath(import.meta.url),
  filesFolder: isBuilt ? here : join(here, "../../dist"),
});

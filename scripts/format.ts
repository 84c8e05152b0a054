// Formats, sorts imports and applies safe fixes.
import { spawnSync } from "node:child_process";

const biome = (...args: string[]) =>
  spawnSync(process.execPath, ["node_modules/@biomejs/biome/bin/biome", ...args, ...paths], {
    stdio: "inherit",
  }).status ?? 1;

const paths = process.argv.slice(2);
process.exit(biome("format", "--write") || biome("check", "--write"));

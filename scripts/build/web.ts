import { join } from "node:path";
import { build } from "vite";
import { removeLeftovers } from "./leftovers.ts";

export async function buildWeb(): Promise<void> {
  const result = await build({ configFile: "vite.config.ts", logLevel: "warn" });
  if (!("output" in result)) throw new Error("Expected one web build, not several or a watcher.");
  const written = result.output.map(({ fileName }) => join("dist/web", fileName));
  await removeLeftovers("dist/web/assets", written);
}

/** Storage: what takes room in the database, and how long each kind of row is kept. */
import { type Feature, kernelRetention } from "#engine/index.ts";
import { storageRoutes } from "./routes.ts";

/** `features`: all others; each says in `retention` how long its rows are kept. */
export function createStorage(features: readonly Feature[]): Feature {
  const rules = [...kernelRetention, ...features.flatMap(({ retention }) => retention ?? [])];
  return { name: "storage", routes: storageRoutes(rules) };
}

/** Storage: sizes in the database, and retention of each kind of row. */
import { type Feature, kernelRetention } from "#engine/index.ts";
import { storageRoutes } from "./routes.ts";

/** `features`: all others; each declares the retention of its rows in `retention`. */
export function createStorage(features: readonly Feature[]): Feature {
  const rules = [...kernelRetention, ...features.flatMap(({ retention }) => retention ?? [])];
  return { name: "storage", routes: storageRoutes(rules) };
}

// The services by the name of the file that a suite imports: the variable with the address, and the
// way to get it.
import { spawnSync } from "node:child_process";
import type { Cleanup } from "./cleanup.ts";
import { getProgram } from "./find-program.ts";
import { startNatsServer } from "./nats-server.ts";
import { PostgresServer } from "./postgres-server.ts";
import { Unavailable } from "./unavailable.ts";

interface Service {
  variable: string;
  prepare(cleanup: Cleanup): Promise<string>;
}

export const services = {
  postgres: {
    variable: "MUSTER_TEST_POSTGRES_URL",
    prepare: async (cleanup) => (await PostgresServer.create(cleanup)).url,
  },
  nats: {
    variable: "MUSTER_TEST_NATS_URL",
    prepare: async (cleanup) => (await startNatsServer(cleanup)).url,
  },
  bubblewrap: {
    variable: "MUSTER_TEST_BUBBLEWRAP",
    prepare: async () => getWorkingBubblewrap(),
  },
  chromium: {
    variable: "MUSTER_TEST_CHROMIUM",
    prepare: async () => getProgram({ name: "chromium", debianPackage: "chromium" }),
  },
} satisfies Record<string, Service>;

export type ServiceName = keyof typeof services;

/** Many containers have the program but forbid it to make namespaces. */
function getWorkingBubblewrap(): string {
  const file = getProgram({ name: "bwrap", debianPackage: "bubblewrap" });
  const args = ["--ro-bind", "/", "/", "--unshare-all", "--die-with-parent", "true"];
  const { status, stderr } = spawnSync(file, args, { encoding: "utf8" });
  if (status !== 0) throw new Unavailable(`bubblewrap does not work here: ${stderr.trim()}`);
  return file;
}

export interface Prepared {
  variables: Record<string, string>;
  missing: Map<ServiceName, string>;
}

/** Prepares each service once; an unavailable one is reported, not thrown. */
export async function prepareServices(names: ServiceName[], cleanup: Cleanup): Promise<Prepared> {
  const prepared: Prepared = { variables: {}, missing: new Map() };
  for (const name of names) {
    const { variable, prepare }: Service = services[name];
    try {
      prepared.variables[variable] = process.env[variable] ?? (await prepare(cleanup));
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error;
      prepared.missing.set(name, error.message);
    }
  }
  return prepared;
}

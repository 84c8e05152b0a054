/** Puts a server together: store, bus, kernel, features, surfaces, in this order. */
import { mkdirSync } from "node:fs";
import { createMemoryBus } from "#base/bus/memory/memory-bus.ts";
import { systemClock } from "#base/clock.ts";
import type { Config } from "#base/config.ts";
import { createIds } from "#base/ids.ts";
import type { Log } from "#base/log.ts";
import { Refusal } from "#base/refusal.ts";
import { openStore, type Store } from "#base/store/index.ts";
import { createKernel, type Kernel } from "#engine/index.ts";
import { type Auth, createAuth } from "#features/auth/index.ts";
import { createProviders } from "#features/providers/index.ts";
import { type HttpServer, startHttp } from "#surfaces/http/server.ts";
import { features } from "./features.ts";
import { ensureOwner, ensureSecretKey, type Owner } from "./owner.ts";
import { VERSION } from "./version.ts";

export interface RunningServer {
  http: HttpServer;
  kernel: Kernel;
  auth: Auth;
  owner: Owner;
  stop(): Promise<void>;
}

const LOOPBACK = new Set(["127.0.0.1", "::1", "localhost"]);
/** The disk no longer keeps what was promised; nothing may be answered after this. */
const EXIT_SYNC_FAILED = 74;

export async function startServer(
  config: Config,
  log: Log,
  filesFolder: string,
): Promise<RunningServer> {
  refuseOpenDoor(config);
  for (const warning of config.warnings) log.warn({}, warning);
  mkdirSync(config.home, { recursive: true, mode: 0o700 });
  const store = await openStore({
    url: config.databaseUrl,
    clock: systemClock,
    log,
    onSyncFailure(error) {
      log.error({ err: error }, "the disk refused to keep what was written; ending at once");
      process.exit(EXIT_SYNC_FAILED);
    },
  });
  try {
    return await assembleServer(config, log, filesFolder, store);
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** On a store that is open already, and stays the caller's to close when this fails. */
export async function assembleServer(
  config: Config,
  log: Log,
  filesFolder: string,
  store: Store,
): Promise<RunningServer> {
  const clock = systemClock;
  const ids = createIds();
  const bus = createMemoryBus(log);
  const secretKey = ensureSecretKey(config.secretKey, config.home);
  const providers = createProviders({ secretKey });
  const kernel = await createKernel({
    store,
    bus,
    clock,
    ids,
    log,
    features: [...features, providers.feature],
    turnLimits: config.turnLimits,
    idleMs: config.idleMs,
    defaults: {
      runtime: config.runtime,
      model: config.model ?? null,
      limits: { activePerUser: config.maxSessions, activePerOrg: config.maxOrgSessions },
    },
  });
  const auth = createAuth({ store, ids, clock });
  const owner = await ensureOwner(auth, config.home);
  const { host, port, publicUrl, rateLimit } = config;
  const http = await startHttp({
    kernel,
    auth,
    clock,
    log,
    host,
    port,
    publicUrl,
    rateLimit,
    secretKey,
    providers: {
      resolve: (orgId, name) => providers.resolve(kernel.engine, orgId, name),
      list: (orgId) => providers.list(kernel.engine, orgId),
    },
    filesFolder,
    version: VERSION,
  });
  kernel.start();
  return {
    http,
    kernel,
    auth,
    owner,
    async stop() {
      await kernel.stop();
      await http.close();
      await bus.close();
      await store.close();
    },
  };
}

function refuseOpenDoor({ host, publicUrl }: Config): void {
  if (LOOPBACK.has(host) || publicUrl !== undefined) return;
  throw new Refusal(
    "invalid",
    "config_invalid",
    `MUSTER_HOST is ${host}, which others can reach. Set MUSTER_PUBLIC_URL to the address they will use, or leave MUSTER_HOST at 127.0.0.1.`,
  );
}

/** Assembles a server: store, bus, kernel, features, surfaces, in this order. */
import { createMemoryBus } from "#base/bus/memory/memory-bus.ts";
import { systemClock } from "#base/clock.ts";
import type { Config } from "#base/config.ts";
import { createIds } from "#base/ids.ts";
import type { Log } from "#base/log.ts";
import { auditHeadFile } from "#base/machine/home-files.ts";
import { isLoopbackHost } from "#base/net/plain-http.ts";
import { Refusal } from "#base/refusal.ts";
import { openStore, type Store } from "#base/store/index.ts";
import {
  command,
  createChangeReporter,
  createKernel,
  type Engine,
  isRunToken,
  type Kernel,
  type Sweep,
} from "#engine/index.ts";
import type { Audit } from "#features/audit/index.ts";
import { type Auth, createAuth } from "#features/auth/index.ts";
import { ensureRunning } from "#features/orchestrators/index.ts";
import { createOrgs } from "#features/orgs/index.ts";
import { shipPersonas } from "#features/personas/index.ts";
import { MAIN_THREAD } from "#protocol/sessions.ts";
import { type HttpServer, startHttp } from "#surfaces/http/server.ts";
import type { PromptOrchestrator } from "#surfaces/mcp/index.ts";
import { createFeatures, type FeatureSettings } from "../features.ts";
import { VERSION } from "../version.ts";
import { createCoordination } from "./coordination.ts";
import { ensureOwner, type Owner } from "./owner.ts";
import { ensurePrivateHome } from "./private-home.ts";
import { type OpenedKey, openSecretKey, recordSecretKey } from "./secret-key.ts";
import { settleRestore } from "./settle-restore.ts";
import { createSignIn, LOOPBACK, refuseStrangers, setOwnerPassword } from "./sign-in.ts";

export interface RunningServer {
  http: HttpServer;
  kernel: Kernel;
  auth: Auth;
  owner: Owner;
  stop(): Promise<void>;
}

/**
 * Exit code after a failed sync: the disk does not keep confirmed writes, so the server must not answer any
 * more.
 */
const EXIT_SYNC_FAILED = 74;

export async function startServer(
  config: Config,
  log: Log,
  filesFolder: string,
): Promise<RunningServer> {
  requireSafeAddress(config);
  for (const warning of config.warnings) log.warn({}, warning);
  ensurePrivateHome(config);
  const store = await openStore({
    url: config.databaseUrl,
    clock: systemClock,
    log,
    reserveBytes: config.disk.reserveBytes,
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

/** Keeps the reserve of the database, and notices that writes succeed again. */
const tendDisk: Sweep = {
  name: "disk",
  everyMs: 5_000,
  run: async ({ store }) => store.tend?.(),
};

/** Assembles a server on an open store, which the caller closes when this fails. */
export async function assembleServer(
  config: Config,
  log: Log,
  filesFolder: string,
  store: Store,
): Promise<RunningServer> {
  const clock = systemClock;
  const ids = createIds();
  const bus = createMemoryBus(log);
  const opened = await openSecretKey(store, config);
  const { secretKey } = opened;
  const features = createFeatures(featureSettings(config, secretKey, log));
  const { gateway, audit, turnMetrics } = features;
  let http: HttpServer | undefined;
  let kernel: Kernel | undefined;
  // Called only for a change, when the engine exists.
  const tell = createChangeReporter(() => (kernel as Kernel).engine);
  const baseUrl = () => (http as HttpServer).url;
  const auth = createAuth({ store, ids, clock, tell });
  const orgs = createOrgs({
    store,
    ids,
    clock,
    tell,
    auth,
    // Called only when people join or leave, when both exist.
    work: () => kernel as Kernel,
    baseUrl,
  });
  const parts = { store, ids, tell, clock, log, auth, admit: orgs.admitIdentified, baseUrl };
  const signIn = createSignIn(config.signIn, parts);
  kernel = await createKernel({
    store,
    bus,
    clock,
    ids,
    log,
    features: [auth.feature, orgs.feature, ...features.list, { name: "disk", sweeps: [tendDisk] }],
    turnLimits: config.turnLimits,
    idleMs: config.idleMs,
    secretKey,
    defaults: {
      runtime: config.runtime,
      model: config.model ?? null,
      limits: { activePerUser: config.maxSessions, activePerOrg: config.maxOrgSessions },
    },
  });
  await kernel.prepare();
  const owner = await ensureOwner(auth, config.home);
  await recordKeyAndRestore(kernel.engine, audit, config.home, { ...opened, owner, log });
  await setOwnerPassword(config.signIn, auth, owner.userId, log);
  await refuseStrangers(config, auth, signIn);
  const { engine, agents } = kernel;
  await shipPersonas(engine);
  const { host, port, publicUrl, trustedProxy, insecureHttp, rateLimit } = config;
  http = await startHttp({
    kernel,
    auth: {
      ...auth,
      ...signIn,
      authenticate: (secret, page) => identify(auth, agents, secret, page),
      acceptInvitation: orgs.acceptInvitation,
    },
    clock,
    log,
    host,
    port,
    publicUrl,
    trustedProxy,
    insecureHttp,
    rateLimit,
    secretKey,
    gateway: gateway.serve(engine),
    promptOrchestrator: createPromptOrchestrator(kernel),
    coordination: createCoordination(kernel),
    turnMetrics: turnMetrics.families,
    home: config.home,
    filesFolder,
    version: VERSION,
  });
  const running = { http, kernel };
  kernel.start();
  return {
    ...running,
    auth,
    owner,
    async stop() {
      await running.kernel.stop();
      await running.http.close();
      await bus.close();
      await store.close();
    },
  };
}

/**
 * Identifies an agent program by its run token, everyone else by a credential. When its owner is removed, a
 * turn may get a moment to wind down; its token ends with the owner's membership.
 */
async function identify(
  auth: Auth,
  agents: Kernel["agents"],
  secret: string,
  page: Parameters<Auth["authenticate"]>[1],
) {
  if (!isRunToken(secret)) return auth.authenticate(secret, page);
  const principal = await agents.identify(secret);
  if (!principal?.run) return undefined;
  const { ownerId, run } = principal;
  if (ownerId !== null && !(await auth.isMember(ownerId))) return undefined;
  return { principal, credentialId: run.runId, kind: "run" };
}

/** Creates and starts the orchestrator of a person who prompts it, if needed. */
function createPromptOrchestrator({ engine, prompts }: Kernel): PromptOrchestrator {
  return async (person, content, dispatchId) => {
    const id = await command(engine, async (work) => {
      const { session } = await ensureRunning(work, person);
      return session.row.id;
    });
    const request = { content, thread: MAIN_THREAD, dispatchId, attachments: [] };
    return prompts.admit(person, id, request);
  };
}

function featureSettings(config: Config, secretKey: string, log: Log): FeatureSettings {
  const { path: searchPath, home } = config;
  return { ...config, secretKey, auditHeadFile: auditHeadFile(home), searchPath, log };
}

/** Records in the trail the first start with another key, or after a restore. */
async function recordKeyAndRestore(
  engine: Engine,
  audit: Audit,
  home: string,
  { secretKey, hasForgotten, owner, log }: OpenedKey & { owner: Owner; log: Log },
): Promise<void> {
  const { orgId } = owner;
  await recordSecretKey(engine.store, secretKey, home);
  await settleRestore(engine, audit, home, orgId);
  if (!hasForgotten) return;
  log.warn({}, "providers' keys, stored secrets and webhook secrets were removed; set them again");
  const change = { orgId, by: "system", area: "secret_key", action: "replaced", subjectId: orgId };
  await command(engine, (work) => work.reportChange(change));
}

function requireSafeAddress({ host, publicUrl, insecureHttp }: Config): void {
  if (!LOOPBACK.has(host) && publicUrl === undefined)
    throw new Refusal(
      "invalid",
      "config_invalid",
      `MUSTER_HOST is ${host}, which others can reach. Set MUSTER_PUBLIC_URL to the https:// address they will use, or leave MUSTER_HOST at 127.0.0.1.`,
    );
  if (publicUrl === undefined || insecureHttp || publicUrl.startsWith("https:")) return;
  if (LOOPBACK.has(host) && isLoopbackHost(new URL(publicUrl).hostname)) return;
  throw new Refusal(
    "invalid",
    "config_invalid",
    `MUSTER_PUBLIC_URL is ${publicUrl}, which is not encrypted: anybody in between could read keys, cookies and prompts. Put a proxy with a certificate in front of this server and give its https:// address, or set MUSTER_INSECURE_HTTP=1 if nobody else is on that network.`,
  );
}

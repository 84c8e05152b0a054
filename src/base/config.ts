/**
 * Settings: from the environment, and from `muster.config.json` in the data folder for those the
 * environment does not set. All of them are checked before anything starts; a bad value stops the
 * start and names the setting and its allowed values. This is the only file that reads the
 * environment.
 */
import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import * as z from "zod";
import { LOG_LEVELS } from "./log.ts";
import { type TrustedProxies, trustedProxySchema } from "./net/trusted-proxy.ts";
import { Refusal } from "./refusal.ts";
import { type SignInSettings, signInSettings, signInShape } from "./sign-in-settings.ts";

const flag = z
  .enum(["true", "false", "1", "0", ""])
  .transform((value) => value === "true" || value === "1");
const count = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d+$/, `a whole number from ${min} to ${max}`)
    .transform(Number)
    .refine((n) => n >= min && n <= max, `a whole number from ${min} to ${max}`);

const settingsSchema = z.object({
  MUSTER_HOME: z.string().min(1).default(join(homedir(), ".muster")),
  MUSTER_HOST: z.string().min(1).default("127.0.0.1"),
  MUSTER_PORT: count(0, 65_535).default(4747),
  MUSTER_DATABASE_URL: z
    .string()
    .regex(/^(sqlite:.+|postgres(ql)?:\/\/.+)$/, "sqlite:<path> or postgres://…")
    .optional(),
  MUSTER_PUBLIC_URL: z
    .url({ protocol: /^https?$/, error: "an http:// or https:// address" })
    .optional(),
  MUSTER_TRUSTED_PROXY: trustedProxySchema.optional(),
  MUSTER_INSECURE_HTTP: flag.default(false),
  MUSTER_SECRET_KEY: z.string().min(32, "at least 32 characters").optional(),
  MUSTER_MODEL: z
    .string()
    .regex(/^[\w.-]+\/.+$/, "provider/model, such as anthropic/claude-sonnet-5 or demo/story")
    .optional(),
  MUSTER_RUNTIME: z.string().min(1).max(100).default("native"),
  MUSTER_PROVIDERS: z.string().optional(),
  MUSTER_GITHUB_API_URL: z
    .url({ protocol: /^https?$/, error: "an http:// or https:// address" })
    .optional(),
  ...signInShape,
  MUSTER_MODEL_SILENCE_SECONDS: count(1, 3_600).default(120),
  MUSTER_SANDBOX: z.enum(["bubblewrap", "local"]).default("bubblewrap"),
  MUSTER_ALLOWED_HOSTS: z.string().default(""),
  MUSTER_PROJECT_FOLDERS: z.string().default(""),
  MUSTER_WORKSPACE_MB: count(1, 100_000_000).default(20 * 1024),
  MUSTER_WORKSPACE_FILES: count(100, 1_000_000_000).default(1_000_000),
  MUSTER_DISK_FLOOR_MB: count(0, 100_000_000).optional(),
  MUSTER_DATABASE_RESERVE_MB: count(0, 100_000).default(64),
  MUSTER_IDLE_MINUTES: count(1, 100_000).default(15),
  MUSTER_MAX_REQUESTS_PER_TURN: count(1, 10_000).default(100),
  MUSTER_MAX_CALLS_PER_RESPONSE: count(1, 1_000).default(25),
  MUSTER_MAX_TURN_MINUTES: count(1, 10_000).default(120),
  MUSTER_MAX_TURN_COST: z
    .string()
    .regex(/^\d+(\.\d{1,6})?$/, "an amount in dollars, such as 2.50")
    .transform(Number)
    .optional(),
  MUSTER_MAX_OUTPUT_BYTES: count(1_000, 1_000_000).default(60_000),
  MUSTER_RATE_LIMIT: count(0, 1_000_000).default(100),
  MUSTER_MAX_SESSIONS: count(1, 1_000_000).default(10),
  MUSTER_MAX_ORG_SESSIONS: count(1, 10_000_000).default(200),
  MUSTER_MAX_CHILDREN: count(1, 10_000).default(100),
  MUSTER_MAX_UNATTENDED_TURNS: count(1, 1_000_000).default(200),
  MUSTER_LOG_LEVEL: z.enum(LOG_LEVELS).default("info"),
  MUSTER_RUNNER_CAPACITY: count(1, 10_000).default(256),
  MUSTER_TEST_CRASH: flag.default(false),
  MUSTER_FORGET_ENCRYPTED: flag.default(false),
  MUSTER_RUNNER: z.enum(["process", "inline", "none"]).default("process"),
  MUSTER_SERVER: z.string().min(1).optional(),
  MUSTER_TOKEN: z.string().min(1).optional(),
  MUSTER_API_KEY: z.string().min(1).optional(),
  ORCHESTRATION_DISABLED: flag.default(false),
  ORCHESTRATION_ENABLED: flag.default(true),
  ORCHESTRATION_ALLOW_DELETE: flag.default(false),
  MINIMAL_UI: flag.default(false),
});

/** Default of the one setting whose bad value is only a warning. */
export const MAX_WORKERS_DEFAULT = 8;

export interface Config {
  home: string;
  host: string;
  port: number;
  databaseUrl: string;
  publicUrl: string | undefined;
  /** Proxies that are believed about where a request came from. */
  trustedProxy: TrustedProxies | undefined;
  /** Allows plain HTTP beyond loopback. */
  insecureHttp: boolean;
  secretKey: string | undefined;
  /**
   * Starts with a secret key other than the one the database was written with, and deletes what
   * only that key opens.
   */
  forgetEncrypted: boolean;
  model: string | undefined;
  runtime: string;
  /** A model that is silent for this long is asked again. */
  modelSilenceMs: number;
  sandbox: "bubblewrap" | "local";
  /** Search path for programs. */
  path: string;
  /**
   * Folders of this machine that sessions may work in; if empty, any folder that the rules do not
   * refuse.
   */
  projectFolders: string[];
  /** Hosts that sandboxed commands may reach. */
  allowedHosts: string[];
  disk: {
    /** Quota of each workspace. */
    workspace: { bytes: number; files: number };
    /**
     * Free space of a runner's disk that agents may not use; null: derived from the size of the
     * disk.
     */
    floorBytes: number | null;
    /**
     * Size of the file that reserves space beside a SQLite database and is deleted when the disk is
     * full; 0: none.
     */
    reserveBytes: number;
  };
  turnLimits: {
    requests: number;
    callsPerResponse: number;
    wallMs: number;
    costMicros: number | null;
    outputBytes: number;
  };
  /** Idle time after which a session falls asleep. */
  idleMs: number;
  /** Address of GitHub's API, if it is not github.com's. */
  githubApiUrl: string | undefined;
  signIn: SignInSettings;
  /** Variables of model providers: their own, and ours for further providers. */
  providers: Environment;
  /** Requests per second per credential; 0 turns the limit off. */
  rateLimit: number;
  maxSessions: number;
  maxOrgSessions: number;
  delegation: {
    /** Limit of live children. */
    childrenPerOrchestrator: number;
    /** Turns that agents and wake-ups may begin in a tree until a person writes again. */
    unattendedTurns: number;
  };
  logLevel: (typeof LOG_LEVELS)[number];
  runnerCapacity: number;
  /** Lets the scripted runtime's `crash` step kill its runner, for tests. */
  testCrash: boolean;
  runner: "process" | "inline" | "none";
  server: string | undefined;
  token: string | undefined;
  apiKey: string | undefined;
  /** Supervisor mode. Orchestrators do not depend on these settings. */
  orchestration: {
    disabled: boolean;
    /** Disables supervisor mode whatever the other settings say. */
    minimalUi: boolean;
    maxWorkers: number;
    /** Lets an agent that ends a worker delete it at once, with everything it wrote. */
    allowDelete: boolean;
  };
  warnings: string[];
}

export type Environment = Readonly<Record<string, string | undefined>>;

export function loadConfig(env: Environment = process.env): Config {
  const home = resolve(env.MUSTER_HOME || settingsSchema.shape.MUSTER_HOME.parse(undefined));
  const merged: Record<string, string> = {
    ...readConfigFile(home),
    ...present(env),
    MUSTER_HOME: home,
  };
  if (env.MUSTER_NATS_URL) throw noNats();
  const parsed = settingsSchema.safeParse(merged);
  if (!parsed.success) throw badSettings(parsed.error);
  const settings = parsed.data;
  const { maxWorkers, warnings } = workerCap(merged.ORCHESTRATION_MAX_WORKERS_PER_SUPERVISOR);
  return {
    home,
    host: settings.MUSTER_HOST,
    port: settings.MUSTER_PORT,
    databaseUrl: settings.MUSTER_DATABASE_URL ?? `sqlite:${join(home, "muster.db")}`,
    publicUrl: settings.MUSTER_PUBLIC_URL,
    trustedProxy: settings.MUSTER_TRUSTED_PROXY,
    insecureHttp: settings.MUSTER_INSECURE_HTTP,
    secretKey: settings.MUSTER_SECRET_KEY,
    forgetEncrypted: settings.MUSTER_FORGET_ENCRYPTED,
    model: settings.MUSTER_MODEL,
    runtime: settings.MUSTER_RUNTIME,
    modelSilenceMs: settings.MUSTER_MODEL_SILENCE_SECONDS * 1_000,
    sandbox: settings.MUSTER_SANDBOX,
    path: env.PATH ?? "/usr/local/bin:/usr/bin:/bin",
    allowedHosts: settings.MUSTER_ALLOWED_HOSTS.split(/[\s,]+/).filter((host) => host !== ""),
    projectFolders: settings.MUSTER_PROJECT_FOLDERS.split(":").filter((folder) => folder !== ""),
    disk: diskLimits(settings),
    turnLimits: turnLimits(settings),
    githubApiUrl: settings.MUSTER_GITHUB_API_URL,
    signIn: signInSettings(settings),
    idleMs: settings.MUSTER_IDLE_MINUTES * 60_000,
    providers: providerVariables(env, settings.MUSTER_PROVIDERS),
    rateLimit: settings.MUSTER_RATE_LIMIT,
    maxSessions: settings.MUSTER_MAX_SESSIONS,
    maxOrgSessions: settings.MUSTER_MAX_ORG_SESSIONS,
    delegation: {
      childrenPerOrchestrator: settings.MUSTER_MAX_CHILDREN,
      unattendedTurns: settings.MUSTER_MAX_UNATTENDED_TURNS,
    },
    logLevel: settings.MUSTER_LOG_LEVEL,
    runnerCapacity: settings.MUSTER_RUNNER_CAPACITY,
    testCrash: settings.MUSTER_TEST_CRASH,
    runner: settings.MUSTER_RUNNER,
    server: settings.MUSTER_SERVER,
    token: settings.MUSTER_TOKEN,
    apiKey: settings.MUSTER_API_KEY,
    orchestration: {
      disabled: settings.ORCHESTRATION_DISABLED || !settings.ORCHESTRATION_ENABLED,
      minimalUi: settings.MINIMAL_UI,
      maxWorkers,
      allowDelete: settings.ORCHESTRATION_ALLOW_DELETE,
    },
    warnings,
  };
}

function noNats(): Refusal {
  return new Refusal(
    "invalid",
    "config_invalid",
    "MUSTER_NATS_URL: must be unset; this version has no NATS bus. Several servers on one PostgreSQL database work without it.",
  );
}

const MB = 1024 ** 2;

function diskLimits(settings: z.infer<typeof settingsSchema>): Config["disk"] {
  const { MUSTER_WORKSPACE_MB: bytes, MUSTER_WORKSPACE_FILES: files } = settings;
  const floor = settings.MUSTER_DISK_FLOOR_MB;
  return {
    workspace: { bytes: bytes * MB, files },
    floorBytes: floor === undefined ? null : floor * MB,
    reserveBytes: settings.MUSTER_DATABASE_RESERVE_MB * MB,
  };
}

function turnLimits(settings: z.infer<typeof settingsSchema>): Config["turnLimits"] {
  const dollars = settings.MUSTER_MAX_TURN_COST;
  return {
    requests: settings.MUSTER_MAX_REQUESTS_PER_TURN,
    callsPerResponse: settings.MUSTER_MAX_CALLS_PER_RESPONSE,
    wallMs: settings.MUSTER_MAX_TURN_MINUTES * 60_000,
    costMicros: dollars === undefined ? null : Math.round(dollars * 1_000_000),
    outputBytes: settings.MUSTER_MAX_OUTPUT_BYTES,
  };
}

const PROVIDER_VARIABLE = /^(ANTHROPIC|OPENAI|OPENROUTER|OLLAMA)_[A-Z_]+$/;

function providerVariables(env: Environment, providers: string | undefined): Environment {
  const theirs = Object.entries(env).filter(([name]) => PROVIDER_VARIABLE.test(name));
  return { ...Object.fromEntries(theirs), MUSTER_PROVIDERS: providers };
}

function present(env: Environment): Record<string, string> {
  const known = Object.entries(env).filter(
    ([name, value]) => value !== undefined && value !== "" && isOurs(name),
  );
  return Object.fromEntries(known) as Record<string, string>;
}

function isOurs(name: string): boolean {
  return name in settingsSchema.shape || name === "ORCHESTRATION_MAX_WORKERS_PER_SUPERVISOR";
}

function readConfigFile(home: string): Record<string, string> {
  const path = join(home, "muster.config.json");
  if (!existsSync(path)) return {};
  let content: unknown;
  try {
    content = JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    throw new Refusal(
      "invalid",
      "config_invalid",
      `${path} is not JSON: ${(error as Error).message}`,
    );
  }
  const parsed = z
    .record(z.string(), z.union([z.string(), z.number(), z.boolean()]))
    .safeParse(content);
  if (!parsed.success)
    throw new Refusal(
      "invalid",
      "config_invalid",
      `${path} must be an object of settings, such as {"MUSTER_PORT": 4747}.`,
    );
  const unknown = Object.keys(parsed.data).filter((name) => !isOurs(name));
  if (unknown.length > 0)
    throw new Refusal(
      "invalid",
      "config_invalid",
      `${path} has unknown settings: ${unknown.join(", ")}.`,
    );
  return Object.fromEntries(
    Object.entries(parsed.data).map(([name, value]) => [name, String(value)]),
  );
}

function badSettings(error: z.ZodError): Refusal {
  const lines = error.issues.map(
    (issue) => `${issue.path.join(".")}: must be ${issue.message.replace(/^Invalid \w+: /, "")}`,
  );
  return new Refusal(
    "invalid",
    "config_invalid",
    `A setting has an invalid value.\n${lines.join("\n")}`,
  );
}

function workerCap(text: string | undefined): { maxWorkers: number; warnings: string[] } {
  if (text === undefined) return { maxWorkers: MAX_WORKERS_DEFAULT, warnings: [] };
  const n = Number(text);
  if (Number.isInteger(n) && n >= 1 && n <= 100) return { maxWorkers: n, warnings: [] };
  return {
    maxWorkers: MAX_WORKERS_DEFAULT,
    warnings: [
      `ORCHESTRATION_MAX_WORKERS_PER_SUPERVISOR must be from 1 to 100; using ${MAX_WORKERS_DEFAULT}.`,
    ],
  };
}

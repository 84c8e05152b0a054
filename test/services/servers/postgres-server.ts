// A throw-away PostgreSQL cluster: loopback only, no password, durable like a real one.
import { type ChildProcess, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chownSync, closeSync, existsSync, openSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Client } from "pg";
import type { Cleanup } from "./cleanup.ts";
import { getProgram } from "./find-program.ts";
import { findFreePort } from "./free-port.ts";
import { Unavailable } from "./unavailable.ts";
import { waitUntil } from "./wait-until.ts";

const VERSIONS_FOLDER = "/usr/lib/postgresql";
const START_WITHIN_MS = 30_000;

const settings = {
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "",
  max_connections: "200",
  fsync: "on",
  log_min_messages: "fatal",
};

interface Account {
  uid?: number;
  gid?: number;
}

export class PostgresServer {
  readonly url: string;
  readonly #program: string;
  readonly #folder: string;
  readonly #port: number;
  readonly #cleanup: Cleanup;
  #process: ChildProcess | undefined;

  private constructor(program: string, folder: string, port: number, cleanup: Cleanup) {
    this.url = `postgres://muster@127.0.0.1:${port}/postgres`;
    this.#program = program;
    this.#folder = folder;
    this.#port = port;
    this.#cleanup = cleanup;
  }

  /** Creates an empty cluster and starts it. Must not be shared with a round that kills it. */
  static async create(cleanup: Cleanup): Promise<PostgresServer> {
    const program = getProgram({
      name: "postgres",
      debianPackage: "postgresql",
      folders: listPostgresFolders,
    });
    const folder = cleanup.createFolder();
    initialise(join(dirname(program), "initdb"), folder);
    const server = new PostgresServer(program, folder, await findFreePort(), cleanup);
    await server.start();
    return server;
  }

  /** Its output goes to a file: after a crash it complains about every early client. */
  get #logFile(): string {
    return join(this.#folder, "server.log");
  }

  /** Starts it (again) on the same port; resolves when it answers. */
  async start(): Promise<void> {
    const options = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
    const args = ["-D", dataFolder(this.#folder), "-p", String(this.#port), ...options];
    const log = openSync(this.#logFile, "a");
    this.#process = this.#cleanup.spawn(this.#program, args, {
      ...unprivilegedAccount(),
      cwd: this.#folder,
      stdio: ["ignore", "ignore", log],
    });
    closeSync(log);
    await waitUntil(() => this.#answer(), START_WITHIN_MS);
  }

  /** Ends it at once, like a crash: the next start recovers from its log. */
  async kill(): Promise<void> {
    await this.#end("SIGQUIT");
  }

  /** Closes all connections, flushes everything and ends. */
  async stop(): Promise<void> {
    await this.#end("SIGINT");
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const running = this.#process;
    if (!running || running.exitCode !== null || running.signalCode !== null) return;
    const exit = once(running, "exit");
    running.kill(signal);
    await exit;
  }

  async #answer(): Promise<void> {
    if (this.#process?.exitCode != null) {
      const said = readFileSync(this.#logFile, "utf8").trim().split("\n").at(-1);
      throw new Unavailable(`PostgreSQL ended while starting: ${said}`);
    }
    const client = new Client({ connectionString: this.url });
    try {
      await client.connect();
    } finally {
      await client.end().catch(() => {});
    }
  }
}

function listPostgresFolders(): string[] {
  const versions = existsSync(VERSIONS_FOLDER) ? readdirSync(VERSIONS_FOLDER) : [];
  const newestFirst = versions.sort((a, b) => Number(b) - Number(a));
  return [...newestFirst.map((version) => join(VERSIONS_FOLDER, version, "bin")), "/usr/local/bin"];
}

const dataFolder = (folder: string) => join(folder, "data");

function initialise(initdb: string, folder: string): void {
  const account = unprivilegedAccount();
  if (account.uid !== undefined && account.gid !== undefined) {
    chownSync(folder, account.uid, account.gid);
  }
  const args = ["-D", dataFolder(folder), "-U", "muster", "-A", "trust", "-E", "UTF8"];
  const { status, stderr } = spawnSync(initdb, [...args, "--locale=C", "--no-sync"], {
    ...account,
    cwd: folder,
    encoding: "utf8",
  });
  if (status !== 0) throw new Unavailable(`initdb failed: ${stderr?.trim().split("\n").at(-1)}`);
}

/** PostgreSQL refuses to run as root, so root runs it under another account. */
function unprivilegedAccount(): Account {
  if (process.getuid?.() !== 0) return {};
  const accounts = readFileSync("/etc/passwd", "utf8").split("\n");
  const find = (name: string) => accounts.find((line) => line.startsWith(`${name}:`))?.split(":");
  const [, , uid, gid] = find("postgres") ?? find("nobody") ?? [];
  if (!uid || !gid) throw new Unavailable("PostgreSQL needs an account other than root");
  return { uid: Number(uid), gid: Number(gid) };
}

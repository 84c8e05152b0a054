/** `muster mcp`: connects another agent program to your orchestrator and your sessions. */
import { type Command, InvalidArgumentError, Option } from "commander";
import { isLoopback } from "#surfaces/cli/client/find-server.ts";
import type { CliHost } from "#surfaces/cli/kit/host.ts";
import { DONE, type Ending, type Invocation, perform } from "#surfaces/cli/kit/invocation.ts";

/** A variable other than MUSTER_API_KEY, which these commands use and which may allow much more. */
const VARIABLE = "MUSTER_MCP_KEY";
const DAY_MS = 24 * 60 * 60_000;
const READ_SCOPES = ["sessions:read"] as const;
const WORK_SCOPES = ["sessions:read", "sessions:write", "tasks", "mail"] as const;

interface Options {
  client?: ClientName;
  newKey?: string;
  readOnly?: true;
  days?: number;
}

/** Configurations name the variable and do not contain the key: these files are often shared. */
const CLIENTS = {
  claude: {
    file: ".mcp.json in your project (Claude Code)",
    config: (url: string) => ({
      mcpServers: {
        muster: { type: "http", url, headers: { Authorization: `Bearer \${${VARIABLE}}` } },
      },
    }),
  },
  cursor: {
    file: "~/.cursor/mcp.json, or .cursor/mcp.json in your project (Cursor)",
    config: (url: string) => ({
      mcpServers: { muster: { url, headers: { Authorization: `Bearer \${env:${VARIABLE}}` } } },
    }),
  },
  opencode: {
    file: "opencode.json (OpenCode)",
    config: (url: string) => ({
      mcp: {
        muster: {
          type: "remote",
          url,
          enabled: true,
          headers: { Authorization: `Bearer {env:${VARIABLE}}` },
        },
      },
    }),
  },
} as const;
type ClientName = keyof typeof CLIENTS;
const NAMES = Object.keys(CLIENTS) as ClientName[];

export function addMcpCommand(program: Command, host: CliHost): void {
  program
    .command("mcp")
    .description(
      "Print the MCP settings that connect Claude Code, Cursor or OpenCode to this server.",
    )
    .addOption(new Option("--client <name>", "only for this client").choices(NAMES))
    .option("--new-key <name>", "create an API key for the client; it is shown once")
    .option("--read-only", "the new key can read, but not send or stop anything")
    .option("--days <days>", "days until the new key expires (default: never)", parseDays)
    .action((options: Options, command: Command) =>
      perform(host, command, (invocation) => printSettings(invocation, options)),
    );
}

async function printSettings(invocation: Invocation, options: Options): Promise<Ending> {
  const api = invocation.api();
  const url = `${api.url}/mcp`;
  const made =
    options.newKey === undefined ? undefined : await makeKey(invocation, options.newKey, options);
  const wanted = options.client === undefined ? NAMES : [options.client];
  const clients = Object.fromEntries(wanted.map((name) => [name, CLIENTS[name].config(url)]));
  const key = made ? { keyId: made.apiKey.id, key: made.key } : {};
  const lines = [
    `export ${VARIABLE}=${made?.key ?? "…"}`,
    ...wanted.flatMap((name) => [
      "",
      `${CLIENTS[name].file}:`,
      JSON.stringify(clients[name], null, 2),
    ]),
  ];
  invocation.print({ url, variable: VARIABLE, ...key, clients }, lines);
  if (made)
    invocation.note(
      `The key will not be shown again. Revoke it with: muster keys rm ${made.apiKey.id}`,
    );
  else invocation.note("Create a key with: muster mcp --new-key NAME");
  if (isLoopback(api.url))
    invocation.note(
      "This address works on this machine only. From another machine, use the server's public address.",
    );
  return DONE;
}

function makeKey(invocation: Invocation, name: string, { readOnly, days }: Options) {
  const expiresAt = days === undefined ? undefined : new Date(Date.now() + days * DAY_MS);
  const body = {
    name,
    // A key for tasks or mail may also write them.
    scopes: [...(readOnly ? READ_SCOPES : WORK_SCOPES)],
    ...(expiresAt ? { expiresAt: expiresAt.toISOString() } : {}),
  };
  return invocation.api().me.createApiKey({ body });
}

function parseDays(text: string): number {
  const days = Number(text);
  if (!(days > 0 && days <= 3_650)) throw new InvalidArgumentError("Use a number from 1 to 3650.");
  return days;
}

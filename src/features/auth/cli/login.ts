import { existsSync, readFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import type { Command } from "commander";
import { ensurePrivateFolder, writePrivateFile } from "#base/machine/private-files.ts";
import { requireEncrypted } from "#base/net/plain-http.ts";
import { Refusal } from "#base/refusal.ts";
import { localAddress } from "#surfaces/cli/client/find-server.ts";
import type { CliHost } from "#surfaces/cli/kit/host.ts";
import { DONE, type Ending, type Invocation, perform } from "#surfaces/cli/kit/invocation.ts";
import { makeKeyByPassword } from "./login-client.ts";
import { readPassword } from "./login-secret.ts";

interface LoginOptions {
  email: string;
  name?: string;
  server?: string;
}

export function addLoginCommand(program: Command, host: CliHost): void {
  program
    .command("login")
    .description("Sign in to a server with e-mail and password, and store a key for this machine.")
    .requiredOption("--email <address>", "your e-mail address; the password is asked for")
    .option("--name <name>", "name of the key (default: this machine's name)")
    .action((_options: object, command: Command) =>
      perform(host, command, (invocation) =>
        logIn(invocation, command.optsWithGlobals<LoginOptions>()),
      ),
    );
}

async function logIn(invocation: Invocation, options: LoginOptions): Promise<Ending> {
  const { host } = invocation;
  const config = invocation.config();
  const wanted = options.server ?? config.server ?? localAddress(config);
  const url = checked(wanted, config.insecureHttp);
  const password = await readPassword(host, `Password of ${options.email}`);
  const name = options.name ?? `muster on ${hostname()}`.slice(0, 100);
  const { apiKey, key } = await makeKeyByPassword(url, { email: options.email, password }, name);
  const file = join(config.home, "muster.config.json");
  saveSettings(config.home, file, { MUSTER_SERVER: url, MUSTER_API_KEY: key });
  invocation.print({ server: url, apiKey, file }, [
    `Signed in to ${url}. The key "${apiKey.name}" is stored in ${file}.`,
  ]);
  invocation.note(`Revoke it with: muster keys rm ${apiKey.id}`);
  return DONE;
}

/** Checks the server's address: a password must not cross an open network. */
function checked(text: string, insecureHttp: boolean): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol))
    throw new Refusal(
      "invalid",
      "server_url_invalid",
      `The server's address must begin with http:// or https://, not "${text}".`,
    );
  requireEncrypted(url.href, insecureHttp);
  return `${url.origin}${url.pathname}`.replace(/\/+$/, "");
}

/** Adds settings to the file, which only this user can read. */
function saveSettings(home: string, file: string, settings: Record<string, string>): void {
  ensurePrivateFolder(home);
  const known = existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as object) : {};
  writePrivateFile(file, `${JSON.stringify({ ...known, ...settings }, null, 2)}\n`);
}

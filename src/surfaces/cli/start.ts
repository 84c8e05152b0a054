/** `up`, `server` and `runner`: options become settings, and the host starts the program. */
import type { Command } from "commander";
import type { Environment } from "#base/config.ts";
import type { CliHost } from "./kit/host.ts";
import { perform } from "./kit/invocation.ts";

interface ListenOptions {
  host?: string;
  port?: string;
  forgetEncrypted?: boolean;
}

interface RunnerOptions {
  token?: string;
  capacity?: string;
  name?: string;
  profile?: string;
  tokenFile?: string;
  folder?: string;
  projectDir?: string;
  tag?: string[];
}

export function addStartCommands(program: Command, host: CliHost): void {
  addListening(program, host, "up", "Starts the server with a runner beside it.", host.startUp);
  addListening(program, host, "server", "Starts the server alone.", host.startServer);
  program
    .command("runner")
    .description("Starts a runner that takes work from a server.")
    .option("--token <token>", "its token (better: MUSTER_TOKEN, which other users cannot see)")
    .option("--token-file <path>", "a file that holds its token")
    .option("--capacity <n>", "how many turns at once")
    .option("--name <name>", "what to call it")
    .option("--tag <tag>", "a tag; may be given several times", collect)
    .option("--profile <name>", "which of several runners in this folder it is")
    .option("--folder <path>", "where it keeps its files")
    .option("--project-dir <path>", "the folder that its agents work in")
    .action((options: RunnerOptions, command: Command) =>
      perform(host, command, async () => {
        const { token, capacity, tag, ...rest } = options;
        const env = over(host.env, {
          MUSTER_SERVER: command.optsWithGlobals<{ server?: string }>().server,
          MUSTER_TOKEN: token,
          MUSTER_RUNNER_CAPACITY: capacity,
        });
        await host.startRunner({ env, tags: tag ?? [], ...rest });
        return undefined;
      }),
    );
}

function collect(tag: string, before: string[] = []): string[] {
  return [...before, tag];
}

function addListening(
  program: Command,
  host: CliHost,
  name: string,
  description: string,
  start: CliHost["startUp"],
): void {
  program
    .command(name)
    .description(description)
    .option("--host <address>", "the address to listen on")
    .option("--port <number>", "the port to listen on")
    .option(
      "--forget-encrypted",
      "if the secret key is lost: remove what only it could open, and go on with a new one",
    )
    .action((options: ListenOptions, command: Command) =>
      perform(host, command, async () => {
        await start({
          env: over(host.env, {
            MUSTER_HOST: options.host,
            MUSTER_PORT: options.port,
            MUSTER_FORGET_ENCRYPTED: options.forgetEncrypted ? "1" : undefined,
          }),
        });
        return undefined;
      }),
    );
}

function over(env: Environment, said: Environment): Environment {
  const given = Object.entries(said).filter(([, value]) => value !== undefined);
  return { ...env, ...Object.fromEntries(given) };
}

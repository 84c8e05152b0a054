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
  addListening(program, host, "up", "Start the server with a runner beside it.", host.startUp);
  addListening(program, host, "server", "Start only the server.", host.startServer);
  program
    .command("runner")
    .description("Start a runner that takes work from a server.")
    .option("--token <token>", "its token (safer: MUSTER_TOKEN, which other users cannot see)")
    .option("--token-file <path>", "a file with its token")
    .option("--capacity <n>", "how many turns to work on at once")
    .option("--name <name>", "its name")
    .option("--tag <tag>", "a tag; can be repeated", collect)
    .option("--profile <name>", "name of the runner, if there are several in this folder")
    .option("--folder <path>", "the folder for its files")
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
      "the secret key is lost: remove everything encrypted with it and continue with a new key",
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

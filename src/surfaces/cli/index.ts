/**
 * The command line. It speaks HTTP to a server; only `doctor`, `backup` and `restore` touch the data folder
 * themselves. `createProgram(host, commands).parseAsync(words, { from: "user" })` runs one command and
 * reports its exit code to `host.exit`. Features bring their commands; `main` lists them.
 */
import { Command, type CommanderError } from "commander";
import { describeExitCodes, EXIT } from "./kit/exit-codes.ts";
import type { CliHost } from "./kit/host.ts";
import { guardHost } from "./kit/text/guarded-output.ts";
import { styleFor } from "./kit/text/terminal.ts";

const EXAMPLES = `
Examples:
  npm start                                  start the server and a runner
  muster chat                                talk to your orchestrator
  muster run "Say hello"                     send a prompt and follow it
  muster tasks                               show the board; also: inbox, memory, approvals
  muster search login bug                    find what was said, done and written
  muster sessions ls --json                  list sessions, for programs
  muster doctor                              find problems and how to fix them
  muster backup && muster restore FILE       back up and restore the database

Settings come from the environment or muster.config.json in MUSTER_HOME.
The key is MUSTER_API_KEY, else owner.key in MUSTER_HOME.
`;

/** Adds a command, or a group of them, to the program. */
export type AddCommand = (program: Command, host: CliHost) => void;

export function createProgram(processHost: CliHost, commands: readonly AddCommand[]): Command {
  const host = guardHost(processHost);
  const program = new Command("muster");
  program
    .description("Orchestrates AI agents on your own machines.")
    .version(host.version, "-V, --version", "print the version")
    .helpOption("-h, --help", "print this help")
    .option("--json", "print the result as JSON")
    .option(
      "--server <url>",
      "the server to use (default: MUSTER_SERVER, else the one on this machine)",
    )
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: (text) => host.stdout.write(text),
      writeErr: (text) => host.stderr.write(text),
      outputError: (text, write) =>
        write(text.replace(/^error:/, styleFor(host.stderr, host.env).red("error:"))),
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    })
    .showHelpAfterError("(add --help for usage)")
    .exitOverride((error) => leave(host, error))
    .addHelpText("after", `${EXAMPLES}\n${describeExitCodes()}`);
  for (const addCommand of commands) addCommand(program, host);
  return program;
}

/** Ends after help and version, and after invalid arguments. */
function leave(host: CliHost, error: CommanderError): never {
  host.exit(error.exitCode === 0 ? EXIT.ok : EXIT.usage);
  throw error;
}

export { addBackupCommand } from "./database/backup.ts";
export { addRestoreCommand } from "./database/restore.ts";
export { addDoctorCommand } from "./doctor/doctor.ts";
export { type CliHost, createProcessHost } from "./kit/host.ts";
export { addStartCommands } from "./start.ts";

/**
 * The command line. It speaks HTTP to a server; only `doctor`, `backup` and `restore` touch the data
 * folder themselves. `createProgram(host).parseAsync(words, { from: "user" })` runs one command and
 * tells its exit code to `host.exit`.
 */
import { Command, type CommanderError } from "commander";
import { addApprovalsCommands } from "./commands/approvals.ts";
import { addAuditCommands } from "./commands/audit.ts";
import { addBackupCommand } from "./commands/backup.ts";
import { addChatCommand } from "./commands/chat.ts";
import { addDoctorCommand } from "./commands/doctor.ts";
import { addInboxCommands } from "./commands/inbox.ts";
import { addKeysCommands } from "./commands/keys.ts";
import { addLoginCommand } from "./commands/login.ts";
import { addLoginLinkCommand } from "./commands/login-link.ts";
import { addPasswordCommand } from "./commands/login-password.ts";
import { addMcpCommand } from "./commands/mcp.ts";
import { addMembersCommands } from "./commands/members.ts";
import { addMemoryCommands } from "./commands/memory.ts";
import { addModelsCommand } from "./commands/models.ts";
import { addOrchestrationCommands } from "./commands/orchestration.ts";
import { addOrchestratorCommands } from "./commands/orchestrator.ts";
import { addPersonasCommands } from "./commands/personas.ts";
import { addProvidersCommands } from "./commands/providers.ts";
import { addReposCommands } from "./commands/repos.ts";
import { addRestoreCommand } from "./commands/restore.ts";
import { addRunCommand } from "./commands/run.ts";
import { addRunnersCommands } from "./commands/runners.ts";
import { addSearchCommand } from "./commands/search.ts";
import { addSecretsCommands } from "./commands/secrets.ts";
import { addSessionsCommands } from "./commands/sessions.ts";
import { addStartCommands } from "./commands/start.ts";
import { addStorageCommands } from "./commands/storage.ts";
import { addTasksCommands } from "./commands/tasks.ts";
import { addUsageCommand } from "./commands/usage.ts";
import { describeExitCodes, EXIT } from "./exit-codes.ts";
import { guardHost } from "./guarded-output.ts";
import type { CliHost } from "./host.ts";
import { styleFor } from "./terminal.ts";

const EXAMPLES = `
Examples:
  npm start                                  start the server and a runner
  muster chat                                talk with your orchestrator
  muster run "Say hello"                     send a prompt and follow it
  muster tasks                               the board; also: inbox, memory, approvals
  muster search login bug                    find what was said, done and written
  muster sessions ls --json                  what there is, for programs
  muster doctor                              what is wrong, and how to mend it
  muster backup && muster restore FILE       keep a copy, and go back to it

Settings come from the environment or muster.config.json in MUSTER_HOME.
The key is MUSTER_API_KEY, else owner.key in MUSTER_HOME.
`;

export function createProgram(processHost: CliHost): Command {
  const host = guardHost(processHost);
  const program = new Command("muster");
  program
    .description("Orchestrates AI agents on your own machines.")
    .version(host.version, "-V, --version", "print the version")
    .helpOption("-h, --help", "print this help")
    .option("--json", "print the result as JSON")
    .option(
      "--server <url>",
      "the server to speak to (else MUSTER_SERVER, else the one on this machine)",
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
    .showHelpAfterError("(add --help to see how it is used)")
    .exitOverride((error) => leave(host, error))
    .addHelpText("after", `${EXAMPLES}\n${describeExitCodes()}`);
  addStartCommands(program, host);
  addChatCommand(program, host);
  addRunCommand(program, host);
  addOrchestratorCommands(program, host);
  addSessionsCommands(program, host);
  addMemoryCommands(program, host);
  addSearchCommand(program, host);
  addOrchestrationCommands(program, host);
  addTasksCommands(program, host);
  addInboxCommands(program, host);
  addApprovalsCommands(program, host);
  addRunnersCommands(program, host);
  addModelsCommand(program, host);
  addPersonasCommands(program, host);
  addProvidersCommands(program, host);
  addReposCommands(program, host);
  addSecretsCommands(program, host);
  addUsageCommand(program, host);
  addStorageCommands(program, host);
  addAuditCommands(program, host);
  addLoginCommand(program, host);
  addLoginLinkCommand(program, host);
  addPasswordCommand(program, host);
  addKeysCommands(program, host);
  addMcpCommand(program, host);
  addMembersCommands(program, host);
  addDoctorCommand(program, host);
  addBackupCommand(program, host);
  addRestoreCommand(program, host);
  return program;
}

/** Help and version were asked for, or the words made no sense. */
function leave(host: CliHost, error: CommanderError): never {
  host.exit(error.exitCode === 0 ? EXIT.ok : EXIT.usage);
  throw error;
}

export { type CliHost, createProcessHost } from "./host.ts";

/** `muster orchestration`: supervisor mode, and the workers of a supervisor. */
import type { Command } from "commander";
import { findSessionId, SESSION_ARGUMENT } from "#surfaces/cli/kit/find-session.ts";
import type { CliHost } from "#surfaces/cli/kit/host.ts";
import { DONE, perform } from "#surfaces/cli/kit/invocation.ts";
import { addOrchestrationInboxCommand } from "./inbox.ts";
import { addOrchestrationWorkersCommand } from "./workers.ts";

export function addOrchestrationCommands(program: Command, host: CliHost): void {
  const group = program
    .command("orchestration")
    .description("Let a session lead workers, and look after them.");
  addSwitch(group, host, {
    name: "enable",
    description: "Makes a session a supervisor; what it is doing goes on.",
    done: (id) => `${id} is a supervisor. Its next turn has the tools.`,
  });
  addSwitch(group, host, {
    name: "disable",
    description: "Ends supervisor mode: workers are detached and live on, the inbox is cleared.",
    done: (id) => `${id} is no supervisor any more. Its workers go on by themselves.`,
  });
  addOrchestrationWorkersCommand(group, host);
  addOrchestrationInboxCommand(group, host);
  addWorkerAction(group, host, {
    name: "detach",
    description: "Takes a worker out of its supervisor's hands; the supervisor is told.",
    done: (worker) => `${worker} is a session of its own now.`,
  });
  addWorkerAction(group, host, {
    name: "kill",
    description: "Ends a worker; its supervisor is not told. It is kept for 7 days.",
    done: (worker) => `${worker} has ended; it is deleted after 7 days.`,
  });
  addWorkerAction(group, host, {
    name: "resume",
    description: "Brings a cold worker back, if its supervisor has a place for it.",
    done: (worker) => `${worker} is back.`,
  });
}

interface CommandText<Name extends string> {
  name: Name;
  description: string;
  done: (id: string) => string;
}

function addSwitch(
  group: Command,
  host: CliHost,
  { name, description, done }: CommandText<"enable" | "disable">,
): void {
  group
    .command(name)
    .description(description)
    .argument("<session>", SESSION_ARGUMENT)
    .action((which: string, _options: object, command: Command) =>
      perform(host, command, async (invocation) => {
        const api = invocation.api();
        const id = await findSessionId(api, which);
        const answer = await api.again.supervision[name]({ id });
        invocation.print(answer, [done(id)]);
        return DONE;
      }),
    );
}

function addWorkerAction(
  group: Command,
  host: CliHost,
  { name, description, done }: CommandText<"detach" | "kill" | "resume">,
): void {
  group
    .command(name)
    .description(description)
    .argument("<session>", "the supervisor")
    .argument("<worker>", "the worker")
    .action((which: string, whichWorker: string, _options: object, command: Command) =>
      perform(host, command, async (invocation) => {
        const api = invocation.api();
        const id = await findSessionId(api, which);
        const workerId = await findSessionId(api, whichWorker);
        const answer = await api.supervision[`${name}Worker`]({ id, workerId });
        invocation.print(answer, [done(workerId)]);
        return DONE;
      }),
    );
}

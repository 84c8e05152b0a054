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
    .description("Let a session lead workers, and manage them.");
  addSwitch(group, host, {
    name: "enable",
    description: "Make a session a supervisor. A running turn continues.",
    done: (id) => `${id} is a supervisor. It gets the tools with its next turn.`,
  });
  addSwitch(group, host, {
    name: "disable",
    description: "End supervisor mode: workers are detached and continue, the inbox is cleared.",
    done: (id) => `${id} is no longer a supervisor. Its workers continue on their own.`,
  });
  addOrchestrationWorkersCommand(group, host);
  addOrchestrationInboxCommand(group, host);
  addWorkerAction(group, host, {
    name: "detach",
    description: "Detach a worker from its supervisor, which is notified.",
    done: (worker) => `${worker} is detached and continues on its own.`,
  });
  addWorkerAction(group, host, {
    name: "kill",
    description: "End a worker without notifying its supervisor. It is kept for 7 days.",
    done: (worker) => `${worker} has ended; it is deleted after 7 days.`,
  });
  addWorkerAction(group, host, {
    name: "resume",
    description: "Resume a cold worker, if its supervisor has a free place.",
    done: (worker) => `${worker} is resumed.`,
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

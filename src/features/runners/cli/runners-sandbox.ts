/** `muster runners allow-unsandboxed`, `require-sandbox` and `look`: the sandbox of a machine. */
import type { Command } from "commander";
import { Refusal } from "#base/refusal.ts";
import { isIsolated, SANDBOX_FIXES } from "#protocol/reports/sandboxes.ts";
import type { Runner } from "#protocol/runs.ts";
import { confirm } from "#surfaces/cli/kit/confirm.ts";
import type { CliHost } from "#surfaces/cli/kit/host.ts";
import { DONE, type Ending, type Invocation, perform } from "#surfaces/cli/kit/invocation.ts";
import { safeText } from "#surfaces/cli/kit/text/terminal.ts";

const RISK =
  "Agents will run commands on this machine with all rights of the runner's user, until it has a sandbox or you revoke this. Each command asks first, unless a rule allows it.";

export function addRunnersSandboxCommands(group: Command, host: CliHost): void {
  group
    .command("allow-unsandboxed")
    .description("Let agents work on a machine that has no sandbox. You can revoke this.")
    .argument("<id>", "the runner")
    .option("--yes", "skip the question")
    .action((id: string, options: { yes?: boolean }, command: Command) =>
      perform(host, command, (invocation) => allow(invocation, id, options.yes ?? false)),
    );
  group
    .command("require-sandbox")
    .description("Revoke that consent. Commands that run without a sandbox there end at once.")
    .argument("<id>", "the runner")
    .action((id: string, _options: object, command: Command) =>
      perform(host, command, async (invocation) => {
        const answer = await invocation.api().runners.requireSandbox({ id });
        invocation.print(answer, [
          `${answer.runner.name} now runs commands in a sandbox or not at all.`,
        ]);
        return DONE;
      }),
    );
  group
    .command("look")
    .description("Ask a machine to check for a sandbox again.")
    .argument("<id>", "the runner")
    .action((id: string, _options: object, command: Command) =>
      perform(host, command, (invocation) => look(invocation, id)),
    );
}

async function allow(invocation: Invocation, id: string, isSure: boolean): Promise<Ending> {
  const { host } = invocation;
  if (!isSure) {
    if (!host.stdin.isTTY)
      throw new Refusal("invalid", "confirmation_needed", `${RISK} Add --yes to allow it.`);
    host.stderr.write(`${RISK}\n`);
    if (!(await confirm(host, "Allow it?"))) {
      invocation.print({ allowed: false }, ["Nothing was changed."]);
      return DONE;
    }
  }
  const answer = await invocation.api().runners.allowUnsandboxed({ id });
  invocation.print(answer, [
    `Agents may work on ${safeText(answer.runner.name)} without a sandbox.`,
  ]);
  invocation.note(`Revoke it with: muster runners require-sandbox ${id}`);
  return DONE;
}

const LOOK_TRIES = 40;
const LOOK_PAUSE_MS = 250;

async function look(invocation: Invocation, id: string): Promise<Ending> {
  const api = invocation.api();
  const before = await api.runners.lookForSandbox({ id });
  let { runner } = before;
  for (
    let tries = 0;
    tries < LOOK_TRIES && runner.sandbox?.at === before.runner.sandbox?.at;
    tries++
  ) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_PAUSE_MS));
    const all = await api.listAll(api.runners.list, {});
    runner = all.find((one) => one.id === id) ?? runner;
  }
  invocation.print({ runner }, [sandboxSentence(runner)]);
  return DONE;
}

/** One sentence on the sandbox of a machine, with the command that fixes a missing one. */
export function sandboxSentence({ name, sandbox }: Runner): string {
  const machine = safeText(name);
  if (isIsolated(sandbox)) return `${machine} runs commands in bubblewrap.`;
  const fix = sandbox?.fix ? ` Run there: ${SANDBOX_FIXES[sandbox.fix]}` : "";
  if (sandbox?.kind === "local") return `${machine} works without a sandbox.${fix}`;
  return `${machine} has no sandbox. ${safeText(sandbox?.why ?? "It gave no reason.")}${fix}`;
}

/** One word on the sandbox, for a table. */
export function sandboxWord({ sandbox }: Runner): string {
  if (isIsolated(sandbox)) return "bubblewrap";
  return sandbox?.kind === "local" && sandbox.why === null ? "without" : "missing";
}

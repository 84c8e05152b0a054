import type { Command } from "commander";
import type { CliHost } from "#surfaces/cli/kit/host.ts";
import { DONE, type Ending, type Invocation, perform } from "#surfaces/cli/kit/invocation.ts";
import { readPassword } from "./login-secret.ts";

export function addPasswordCommand(program: Command, host: CliHost): void {
  program
    .command("password")
    .description("Set the owner's password, for signing in from other browsers.")
    .option("--email <address>", "e-mail address to sign in with, if none is set yet")
    .action((options: { email?: string }, command: Command) =>
      perform(host, command, (invocation) => setPassword(invocation, options)),
    );
}

async function setPassword(invocation: Invocation, { email }: { email?: string }): Promise<Ending> {
  const api = invocation.api();
  const newPassword = await readPassword(invocation.host, "New password, at least 12 characters");
  const answer = await api.me.setPassword({ body: { newPassword, ...(email ? { email } : {}) } });
  invocation.print(answer, [`${answer.user.email} can sign in at ${api.url}/sign-in.`]);
  invocation.note("Other browsers must sign in again; keys stay valid.");
  return DONE;
}

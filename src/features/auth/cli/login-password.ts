import type { Command } from "commander";
import type { CliHost } from "#surfaces/cli/kit/host.ts";
import { DONE, type Ending, type Invocation, perform } from "#surfaces/cli/kit/invocation.ts";
import { readPassword } from "./login-secret.ts";

export function addPasswordCommand(program: Command, host: CliHost): void {
  program
    .command("password")
    .description("Sets the owner's password, with which a browser elsewhere can sign in.")
    .option("--email <address>", "with which to sign in, if there is none yet")
    .action((options: { email?: string }, command: Command) =>
      perform(host, command, (invocation) => setPassword(invocation, options)),
    );
}

async function setPassword(invocation: Invocation, { email }: { email?: string }): Promise<Ending> {
  const api = invocation.api();
  const newPassword = await readPassword(invocation.host, "New password, of 12 letters or more");
  const answer = await api.me.setPassword({ body: { newPassword, ...(email ? { email } : {}) } });
  invocation.print(answer, [`${answer.user.email} can sign in at ${api.url}/sign-in.`]);
  invocation.note("Browsers that were signed in have to sign in again; keys stay.");
  return DONE;
}

import type { Command } from "commander";
import type { Session } from "#protocol/sessions.ts";
import type { Api } from "#surfaces/cli/client/api.ts";
import { EXIT } from "#surfaces/cli/kit/exit-codes.ts";
import { ensureOrchestrator, findSessionId } from "#surfaces/cli/kit/find-session.ts";
import type { CliHost } from "#surfaces/cli/kit/host.ts";
import { type Ending, type Invocation, perform } from "#surfaces/cli/kit/invocation.ts";
import { styleFor } from "#surfaces/cli/kit/text/terminal.ts";
import { Chat } from "./chat/chat.ts";
import type { ChatView } from "./chat/chat-view.ts";
import { createJsonView, createPlainView, talkInLines } from "./chat/plain-view.ts";
import { TerminalView } from "./chat/terminal/terminal-view.ts";

const GIVE_UP_AFTER_MS = 120_000;

const NOTES = `
Examples:
  muster chat                              talk to your orchestrator
  muster chat ses_01…                      talk to any session
  echo "What is left to do?" | muster chat
  muster chat --json < lines.txt | jq -r 'select(.prompt).prompt.outcome'

Lines that start with a slash are commands; /help lists them. Ctrl-C stops the turn, a second one
leaves. Leaving never stops the work. Without a terminal each line is a prompt, and the command ends
when all prompts have ended, with the work they delegated to child sessions.`;

interface ChatFlags {
  reasoning?: boolean;
  wait: boolean;
}

export function addChatCommand(program: Command, host: CliHost): void {
  program
    .command("chat")
    .description("Talk to your orchestrator or to a session.")
    .argument("[session]", "the session: its id, the end of its id, or its title")
    .option("--reasoning", "show the agent's reasoning")
    .option("--no-wait", "without a terminal: do not wait for child sessions")
    .addHelpText("after", NOTES)
    .action((id: string | undefined, flags: ChatFlags, command: Command) =>
      perform(host, command, (invocation) => chat(invocation, id, flags)),
    );
}

async function chat(
  invocation: Invocation,
  id: string | undefined,
  { reasoning = false, wait }: ChatFlags,
): Promise<Ending> {
  const { host, json } = invocation;
  const api = invocation.api();
  const [{ user }, session] = await Promise.all([api.me.get(), openSession(api, id)]);
  const isTerminal =
    host.stdin.isTTY === true && host.stdout.isTTY === true && !json && host.env.TERM !== "dumb";
  const shared = { api, me: user.id, reasoning, output: host.stdout };
  if (isTerminal) {
    const view = new TerminalView(host);
    const style = styleFor(host.stdout, host.env);
    const talk = new Chat(session, { ...shared, view, style });
    const wasInterrupted = await view.run(talk);
    const { id: last } = talk.conversation.session;
    const again = id === undefined && last === session.id ? "muster chat" : `muster chat ${last}`;
    invocation.note(`The work goes on. Come back with: ${again}`);
    return wasInterrupted ? EXIT.interrupted : EXIT.ok;
  }
  let changed = () => {};
  const tell = () => changed();
  const view: ChatView = json ? createJsonView(host, tell) : createPlainView(host, tell);
  const style = styleFor(host.stderr, host.env);
  const talk = new Chat(session, { ...shared, view, style, giveUpAfterMs: GIVE_UP_AFTER_MS });
  const onChange = (listener: () => void) => {
    changed = listener;
  };
  return talkInLines(host, talk, onChange, wait);
}

async function openSession(api: Api, id: string | undefined): Promise<Session> {
  if (id === undefined) return ensureOrchestrator(api);
  return (await api.sessions.get({ id: await findSessionId(api, id) })).session;
}

import { randomUUID } from "node:crypto";
import { type Command, Option } from "commander";
import { Refusal } from "#base/refusal.ts";
import { titleFrom } from "#protocol/names/session-title.ts";
import type { Prompt, QueueMode, Session } from "#protocol/sessions.ts";
import type { Api } from "#surfaces/cli/client/api.ts";
import { findSessionId } from "#surfaces/cli/kit/find-session.ts";
import type { CliHost, Input } from "#surfaces/cli/kit/host.ts";
import { type Ending, type Invocation, perform } from "#surfaces/cli/kit/invocation.ts";
import { showTurn } from "./turn/show-turn.ts";

interface RunOptions {
  session?: string;
  runtime?: string;
  model?: string;
  title?: string;
  repo?: string;
  branch?: string;
  project?: string;
  mode?: QueueMode;
}

const EXAMPLES = `
Examples:
  muster run "What changed in this repository last week?"
  git diff | muster run --title "Review" -
  muster run --session ses_01… "And now the tests"
  muster run --json "Say hello" | jq -r 'select(.prompt).prompt.outcome'

Ctrl-C stops the turn; a second Ctrl-C leaves at once.`;

export function addRunCommand(program: Command, host: CliHost): void {
  program
    .command("run")
    .description("Send a prompt to a new or a named session, and follow its turn.")
    .argument("[prompt...]", "the prompt; - or nothing reads standard input")
    .option("--session <session>", "the session to prompt: its id, the end of its id, or its title")
    .option("--runtime <name>", "the runtime of a new session")
    .option("--model <name>", "the model of a new session, as provider/model")
    .option("--title <text>", "the title of a new session (default: the start of the prompt)")
    .option("--repo <address>", "the git repository for a new session")
    .option("--branch <name>", "the branch to start from")
    .option("--project <folder>", "the folder on the runner's machine for a new session")
    .addOption(
      new Option("--mode <mode>", "what to do when the session is busy").choices([
        "followup",
        "collect",
        "steer",
        "interrupt",
      ]),
    )
    .addHelpText("after", EXAMPLES)
    .action((words: string[], options: RunOptions, command: Command) =>
      perform(host, command, (invocation) => run(invocation, words, options)),
    );
}

async function run(invocation: Invocation, words: string[], options: RunOptions): Promise<Ending> {
  refuseUselessOptions(options);
  const content = await readPrompt(invocation.host.stdin, words);
  return showTurn(invocation, async (api) => {
    const title = options.title ?? titleFrom(content);
    const session = await openSession(api, { ...options, ...(title && { title }) });
    return { prompt: await sendPrompt(api, session, content, options.mode), session };
  });
}

function refuseUselessOptions(options: RunOptions): void {
  const { session, runtime, model, title, repo, branch, project } = options;
  const forNew = runtime ?? model ?? title ?? repo ?? branch ?? project;
  if (session === undefined || forNew === undefined) return;
  throw new Refusal(
    "invalid",
    "wrong_usage",
    "--runtime, --model, --title, --repo, --branch and --project are for new sessions. Leave them out with --session.",
  );
}

async function readPrompt(stdin: Input, words: readonly string[]): Promise<string> {
  const fromInput = words.length === 0 || (words.length === 1 && words[0] === "-");
  if (words.length === 0 && stdin.isTTY) {
    throw new Refusal("invalid", "wrong_usage", 'Say what to do: muster run "…", or pipe it in.');
  }
  const content = fromInput ? await readAll(stdin) : words.join(" ");
  if (content.trim() === "") throw new Refusal("invalid", "wrong_usage", "The prompt is empty.");
  return content;
}

async function readAll(stdin: Input): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stdin)
    chunks.push(typeof chunk === "string" ? Buffer.from(chunk) : chunk);
  return Buffer.concat(chunks).toString("utf8");
}

async function openSession(api: Api, options: RunOptions): Promise<Session> {
  const { session: id, runtime, model, title, repo, branch, project: projectDir } = options;
  if (id !== undefined)
    return (await api.sessions.get({ id: await findSessionId(api, id) })).session;
  const { session } = await api.again.sessions.create(
    { body: { runtime, model, title, repo, branch, projectDir } },
    { idempotencyKey: randomUUID() },
  );
  return session;
}

async function sendPrompt(
  api: Api,
  { id }: Session,
  content: string,
  mode: QueueMode | undefined,
): Promise<Prompt> {
  // The dispatch id makes a repeated request the same prompt.
  const body = { content, mode, dispatchId: randomUUID() };
  return (await api.again.prompts.create({ id, body })).prompt;
}

/** `muster orchestrator`: identity, state and preferences of your orchestrator. */
import { type Command, Option } from "commander";
import { Refusal } from "#base/refusal.ts";
import { FILL_LIST, readContacts } from "#features/mailbox/cli/index.ts";
import {
  type Identity,
  type IdentityChange,
  MAIL_RULES,
  type Preferences,
  type PreferencesChange,
  STYLES,
} from "#features/orchestrators/contract.ts";
import { QUEUE_MODES, type Session } from "#protocol/sessions.ts";
import { asDefault, BY_DEFAULT } from "#surfaces/cli/kit/default-command.ts";
import type { CliHost } from "#surfaces/cli/kit/host.ts";
import { DONE, type Ending, type Invocation, perform } from "#surfaces/cli/kit/invocation.ts";
import { formatCost, safeLine } from "#surfaces/cli/kit/text/terminal.ts";

const MINUTE_MS = 60_000;
/** Value that resets a preference to the server's default. */
const DEFAULT = "default";

export function addOrchestratorCommands(program: Command, host: CliHost): void {
  const group = program
    .command("orchestrator")
    .description("See and change your orchestrator; talk to it with: muster chat");
  asDefault(group.command("show", BY_DEFAULT))
    .description("Show its identity and state.")
    .action((_options: object, command: Command) => perform(host, command, show));
  addSetCommand(group, host);
  addPreferencesCommand(group, host);
  group
    .command("restart")
    .description("Restart it after it has ended; its conversation is kept.")
    .option("--force", "restart it even if it is healthy: stops its turns and keeps its queue")
    .action(({ force = false }: { force?: boolean }, command: Command) =>
      perform(host, command, (invocation) => restart(invocation, force)),
    );
  group
    .command("wake")
    .description("Wake it, or start it if there is none.")
    .action((_options: object, command: Command) => perform(host, command, wake));
}

function addSetCommand(group: Command, host: CliHost): void {
  group
    .command("set")
    .description("Change its identity. Fields you leave out stay as they are.")
    .option("--name <name>", "its name")
    .option("--handle <handle>", "how others address it; unique in the organisation")
    .option("--avatar <avatar>", "an emoji or the address of an image; empty removes it")
    .addOption(new Option("--style <style>", "how it writes").choices(STYLES))
    .option("--instructions <text>", "extra instructions; empty removes them")
    .addOption(
      new Option(
        "--mail <who>",
        "which other people and agents may write to it; for list, see muster inbox contacts",
      ).choices(MAIL_RULES),
    )
    .action((options: SetOptions, command: Command) =>
      perform(host, command, (invocation) => change(invocation, options)),
    );
}

function addPreferencesCommand(group: Command, host: CliHost): void {
  group
    .command("preferences")
    .description(`Show or change your preferences; "${DEFAULT}" resets one.`)
    .option("--model <model>", "its model, as provider/model")
    .option("--idle-minutes <minutes>", "how long it stays awake when idle")
    .addOption(
      new Option("--queue-mode <mode>", "what a new prompt does while it is busy").choices([
        ...QUEUE_MODES,
        DEFAULT,
      ]),
    )
    .action((options: PreferenceOptions, command: Command) =>
      perform(host, command, (invocation) => preferences(invocation, options)),
    );
}

async function show(invocation: Invocation): Promise<Ending> {
  const found = await invocation.api().orchestrators.get();
  const { identity, session, needsRestart, recovery } = found;
  if (!identity && !session) {
    invocation.print(found, ["You have no orchestrator yet. Start it with: muster chat"]);
    return DONE;
  }
  invocation.print(found, [
    ...(identity ? await identityLines(invocation, identity) : []),
    ...(session ? sessionLines(session) : []),
    ...(needsRestart ? ["It has ended. Restart it with: muster orchestrator restart"] : []),
    ...(recovery?.nextAttemptAt ? [`It restarts by itself at ${recovery.nextAttemptAt}.`] : []),
  ]);
  return DONE;
}

interface SetOptions {
  name?: string;
  handle?: string;
  avatar?: string;
  style?: Identity["style"];
  instructions?: string;
  mail?: Identity["acceptsAgentMail"];
}

async function change(invocation: Invocation, options: SetOptions): Promise<Ending> {
  const body: IdentityChange = {
    ...(options.name === undefined ? {} : { name: options.name }),
    ...(options.handle === undefined ? {} : { handle: options.handle }),
    ...(options.avatar === undefined ? {} : { avatar: options.avatar || null }),
    ...(options.style === undefined ? {} : { style: options.style }),
    ...(options.instructions === undefined
      ? {}
      : { customInstructions: options.instructions || null }),
    ...(options.mail === undefined ? {} : { acceptsAgentMail: options.mail }),
  };
  if (Object.keys(body).length === 0) {
    const message = "Say what to change, such as --name Ada; --help lists the options.";
    throw new Refusal("invalid", "wrong_usage", message);
  }
  const answer = await invocation.api().again.orchestrators.updateIdentity({ body });
  invocation.print(answer, await identityLines(invocation, answer.identity));
  return DONE;
}

async function wake(invocation: Invocation): Promise<Ending> {
  const answer = await invocation.api().again.orchestrators.wake();
  invocation.print(answer, sessionLines(answer.session));
  return DONE;
}

async function restart(invocation: Invocation, force: boolean): Promise<Ending> {
  const api = invocation.api();
  // A forced restart takes effect on every request, so it is never retried.
  const answer = force
    ? await api.orchestrators.restart({ body: { force } })
    : await api.again.orchestrators.restart();
  invocation.print(answer, sessionLines(answer.session));
  return DONE;
}

interface PreferenceOptions {
  model?: string;
  idleMinutes?: string;
  queueMode?: string;
}

async function preferences(invocation: Invocation, options: PreferenceOptions): Promise<Ending> {
  const api = invocation.api();
  const body = preferencesChange(options);
  const answer =
    Object.keys(body).length === 0
      ? await api.orchestrators.getPreferences()
      : await api.again.orchestrators.updatePreferences({ body });
  const { model, idleTimeoutMs, queueMode } = answer;
  const idle = idleTimeoutMs === null ? null : `${idleTimeoutMs / MINUTE_MS} minutes`;
  invocation.print(answer, [
    ...detail("model", model ?? DEFAULT),
    ...detail("idle", idle ?? DEFAULT),
    ...detail("queue mode", queueMode ?? DEFAULT),
  ]);
  return DONE;
}

function preferencesChange({ model, idleMinutes, queueMode }: PreferenceOptions) {
  const change: PreferencesChange = {};
  if (model !== undefined) change.model = model === DEFAULT ? null : model;
  if (queueMode !== undefined)
    change.queueMode = queueMode === DEFAULT ? null : (queueMode as Preferences["queueMode"]);
  if (idleMinutes !== undefined)
    change.idleTimeoutMs = idleMinutes === DEFAULT ? null : minutesOf(idleMinutes);
  return change;
}

function minutesOf(text: string): number {
  if (/^\d{1,6}$/.test(text)) return Number(text) * MINUTE_MS;
  throw new Refusal(
    "invalid",
    "wrong_usage",
    `--idle-minutes must be a whole number of minutes or "${DEFAULT}", not "${text}".`,
  );
}

async function identityLines(invocation: Invocation, identity: Identity): Promise<string[]> {
  return [
    ...detail("name", identity.name),
    ...detail("handle", `@${identity.handle}`),
    ...detail("avatar", identity.avatar),
    ...detail("style", identity.style),
    ...detail("mail from", await mailWords(invocation, identity.acceptsAgentMail)),
    ...detail("heeds", identity.customInstructions),
  ];
}

async function mailWords(
  { json, api }: Invocation,
  rule: Identity["acceptsAgentMail"],
): Promise<string> {
  if (rule === "none") return "nobody (none)";
  if (rule === "org") return "everybody in the organisation and their agents (org)";
  if (json) return rule;
  const { items } = await readContacts(api());
  const names = items.map(({ name }) => name).join(", ");
  return names === "" ? `nobody yet (list). ${FILL_LIST}` : `${names}, and their agents (list)`;
}

function sessionLines(session: Session): string[] {
  return [
    ...detail("session", session.id),
    ...detail("activity", session.activity),
    ...detail("lifecycle", session.lifecycle),
    ...detail("incarnation", String(session.incarnation)),
    ...detail("model", session.model),
    ...detail("cost", formatCost(session.cost)),
  ];
}

function detail(name: string, value: string | null): string[] {
  return value === null ? [] : [`${name.padEnd(13)}${safeLine(value)}`];
}

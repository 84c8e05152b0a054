/**
 * `muster inbox contacts`: people who may write to your orchestrator when it accepts mail from a
 * list.
 */
import type { Command } from "commander";
import { Refusal } from "#base/refusal.ts";
import type { Identity } from "#features/orchestrators/contract.ts";
import type { Member } from "#features/orgs/contract.ts";
import type { Api } from "#surfaces/cli/client/api.ts";
import { asDefault, BY_DEFAULT } from "#surfaces/cli/kit/default-command.ts";
import type { CliHost } from "#surfaces/cli/kit/host.ts";
import { DONE, type Ending, type Invocation, perform } from "#surfaces/cli/kit/invocation.ts";
import { printTable, safeLine } from "#surfaces/cli/kit/text/terminal.ts";
import { readPeople } from "#surfaces/cli/kit/who.ts";

type Contacts = Awaited<ReturnType<typeof readContacts>>;

const PEOPLE = "their names, e-mail addresses or ids";

export function addInboxContactsCommands(inbox: Command, host: CliHost): void {
  const group = inbox
    .command("contacts")
    .description("Manages the people who, with their agents, may write to your orchestrator.");
  asDefault(group.command("ls", BY_DEFAULT))
    .description("Lists contacts.")
    .action((_options: object, command: Command) => perform(host, command, list));
  group
    .command("add")
    .description("Adds contacts.")
    .argument("<people...>", PEOPLE)
    .action((people: string[], _options: object, command: Command) =>
      perform(host, command, (invocation) => change(invocation, people, true)),
    );
  group
    .command("rm")
    .description("Removes contacts.")
    .argument("<people...>", PEOPLE)
    .action((people: string[], _options: object, command: Command) =>
      perform(host, command, (invocation) => change(invocation, people, false)),
    );
}

export function readContacts(api: Api) {
  return api.again.mailbox.contacts();
}

async function list(invocation: Invocation): Promise<Ending> {
  await show(invocation, await readContacts(invocation.api()));
  return DONE;
}

async function change(
  invocation: Invocation,
  people: readonly string[],
  isIn: boolean,
): Promise<Ending> {
  const api = invocation.api();
  const { me, members } = await readPeople(api);
  const others = members.filter(({ userId }) => userId !== me);
  const named = people.map((given) => pickMember(others, given).userId);
  const listed = (await readContacts(api)).items.map(({ userId }) => userId);
  const userIds = isIn
    ? [...new Set([...listed, ...named])]
    : listed.filter((id) => !named.includes(id));
  await show(invocation, await api.again.mailbox.setContacts({ body: { userIds } }));
  return DONE;
}

/** Prints the contacts, and a note if the current rule ignores the list. */
async function show(invocation: Invocation, contacts: Contacts): Promise<void> {
  if (invocation.json) return invocation.print(contacts, []);
  const { items } = contacts;
  if (items.length === 0) invocation.print(null, [`There are no contacts. ${FILL_LIST}`]);
  else
    printTable(
      invocation.host,
      ["ID", "NAME"],
      items.map(({ userId, name }) => [userId, name]),
    );
  const { identity } = await invocation.api().again.orchestrators.get();
  const rule = identity?.acceptsAgentMail ?? "none";
  if (rule !== "list") invocation.note(`The list is not in use: ${ruleWords(rule)}`);
}

/** Next step for an empty list. */
export const FILL_LIST = "Add a contact with: muster inbox contacts add NAME";

function ruleWords(rule: Identity["acceptsAgentMail"]): string {
  return rule === "org"
    ? "everybody may write to your orchestrator. Change that with: muster orchestrator set --mail list"
    : "nobody else may write to your orchestrator. Change that with: muster orchestrator set --mail list";
}

function pickMember(members: readonly Member[], given: string): Member {
  const wanted = given
    .trim()
    .replace(/^@user:/, "")
    .toLowerCase();
  const kinds: ((member: Member) => boolean)[] = [
    ({ userId }) => userId === wanted,
    ({ email }) => email?.toLowerCase() === wanted,
    ({ name }) => name.toLowerCase() === wanted,
  ];
  for (const matches of kinds) {
    const found = members.filter(matches);
    if (found.length === 1) return found[0] as Member;
    if (found.length > 1) {
      const which = found.map(({ name, userId }) => `${name} (${userId})`).join(", ");
      const message = safeLine(
        `${JSON.stringify(given)} matches several members: ${which}. Use an id.`,
      );
      throw new Refusal("conflict", "member_ambiguous", message);
    }
  }
  throw new Refusal(
    "not_found",
    "not_found",
    safeLine(
      `No other member is called ${JSON.stringify(given)}. List members with: muster members ls`,
    ),
  );
}

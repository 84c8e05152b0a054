import { basename, resolve } from "node:path";
import { type Command, Option } from "commander";
import { Refusal } from "#base/refusal.ts";
import { type NewPersona, type Persona, VISIBILITIES } from "#features/personas/contract.ts";
import type { Api } from "#surfaces/cli/client/api.ts";
import type { CliHost } from "#surfaces/cli/kit/host.ts";
import { DONE, type Ending, type Invocation, perform } from "#surfaces/cli/kit/invocation.ts";
import { resolveOrgId } from "#surfaces/cli/kit/who.ts";
import { readPersonaFolder } from "./folder.ts";

interface SaveOptions {
  from?: string;
  name?: string;
  slug?: string;
  description?: string;
  icon?: string;
  visibility?: (typeof VISIBILITIES)[number];
  model?: string;
  runtime?: string;
  memory?: keyof typeof MEMORY;
}

export function addPersonasCreateCommand(group: Command, host: CliHost): void {
  withSettings(
    group
      .command("create")
      .description("Create a persona from a folder of files, with skills in skills/NAME/."),
  ).action((options: SaveOptions, command: Command) =>
    perform(host, command, async (invocation) => {
      const { from } = options;
      const fields = await bodyFrom(options);
      const name = fields.name ?? (from === undefined ? undefined : basename(resolve(from)));
      if (name === undefined) throw nothing("Give --from FOLDER or --name NAME.");
      return save(invocation, ({ personas }, orgId) =>
        personas.create({ orgId, body: { ...fields, name } }),
      );
    }),
  );
}

export function addPersonasEditCommand(group: Command, host: CliHost): void {
  withSettings(
    group
      .command("edit")
      .description("Change the settings of a persona, or with --from all its files and skills.")
      .argument("<persona>", "its slug or id"),
  ).action((name: string, options: SaveOptions, command: Command) =>
    perform(host, command, async (invocation) => {
      const body = await bodyFrom(options);
      if (Object.keys(body).length === 0)
        throw nothing("Say what to change, such as --from FOLDER or --description TEXT.");
      return save(invocation, ({ personas }, orgId) =>
        personas.updateByPut({ orgId, id: name, body }),
      );
    }),
  );
}

function withSettings(command: Command): Command {
  return command
    .option("--from <folder>", "the folder with its files")
    .option("--name <name>", "its name")
    .option("--slug <slug>", "its short name: lower-case letters, digits, dashes")
    .option("--description <text>", "what it is for")
    .option("--icon <icon>", "an emoji")
    .addOption(new Option("--visibility <who>", "who can use it").choices(VISIBILITIES))
    .option("--model <model>", "its preferred model, or none")
    .option("--runtime <runtime>", "its preferred runtime, or none")
    .addOption(
      new Option("--memory <setting>", "remember across sessions").choices([
        "on",
        "off",
        "session",
      ]),
    );
}

const MEMORY = { on: true, off: false, session: null } as const;

/** Builds the request. Options of the command line override the settings of the folder. */
async function bodyFrom({
  from,
  model,
  runtime,
  memory,
  ...fields
}: SaveOptions): Promise<Partial<NewPersona>> {
  const body: Partial<NewPersona> = {
    ...(from === undefined ? {} : await readPersonaFolder(from)),
    ...fields,
  };
  if (model !== undefined) body.model = orNone(model);
  if (runtime !== undefined) body.runtime = orNone(runtime);
  if (memory !== undefined) body.enableMemory = MEMORY[memory];
  return body;
}

function nothing(message: string): Refusal {
  return new Refusal("invalid", "nothing_given", message);
}

function orNone(text: string): string | null {
  return text === "none" ? null : text;
}

async function save(
  invocation: Invocation,
  send: (api: Api, orgId: string) => Promise<{ persona: Persona }>,
): Promise<Ending> {
  const api = invocation.api();
  const response = await send(api, await resolveOrgId(api));
  const { slug, visibility, version, files, skills } = response.persona;
  const parts = `${files.length} files, ${skills.length} skills`;
  invocation.print(response, [`${slug} is saved: ${visibility}, version ${version}, ${parts}.`]);
  return DONE;
}

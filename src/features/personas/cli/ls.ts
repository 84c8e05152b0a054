import { type Command, Option } from "commander";
import { type PersonaSummary, VISIBILITIES } from "#features/personas/contract.ts";
import type { CliHost } from "#surfaces/cli/kit/host.ts";
import { DONE, type Ending, type Invocation, perform } from "#surfaces/cli/kit/invocation.ts";
import { printTable, shorten, timeAgo } from "#surfaces/cli/kit/text/terminal.ts";
import { resolveOrgId } from "#surfaces/cli/kit/who.ts";

interface Options {
  q?: string;
  visibility?: (typeof VISIBILITIES)[number];
}

const DESCRIPTION_WIDTH = 80;

export function addPersonasLsCommand(group: Command, host: CliHost): void {
  group
    .command("ls")
    .description("List the personas that you can use.")
    .option("--q <text>", "only with this text in the name, slug or description")
    .addOption(
      new Option("--visibility <which>", "only with this visibility").choices(VISIBILITIES),
    )
    .action((options: Options, command: Command) =>
      perform(host, command, (invocation) => listPersonas(invocation, options)),
    );
}

async function listPersonas(invocation: Invocation, { q, visibility }: Options): Promise<Ending> {
  const api = invocation.api();
  const query = { q, visibility };
  const orgId = await resolveOrgId(api);
  const items = await api.listAll(api.personas.list, { orgId, query });
  if (invocation.json) {
    invocation.print({ items, next: null }, []);
  } else if (items.length === 0) {
    invocation.print(null, [
      "No personas found. Create one with: muster personas create --from FOLDER",
    ]);
  } else {
    const headings = ["SLUG", "NAME", "VISIBILITY", "VERSION", "CHANGED", "DESCRIPTION"];
    printTable(invocation.host, headings, items.map(rowOf));
  }
  return DONE;
}

function rowOf(persona: PersonaSummary): string[] {
  return [
    persona.slug,
    persona.name,
    `${persona.visibility}${persona.isDefault ? ", default" : ""}`,
    String(persona.version),
    timeAgo(persona.updatedAt),
    shorten(persona.description, DESCRIPTION_WIDTH),
  ];
}

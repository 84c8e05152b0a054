import type { Command } from "commander";
import { exportOf } from "#features/personas/contract.ts";
import type { CliHost } from "#surfaces/cli/kit/host.ts";
import { DONE, type Ending, type Invocation, perform } from "#surfaces/cli/kit/invocation.ts";
import { resolveOrgId } from "#surfaces/cli/kit/who.ts";
import { writePersonaFolder } from "./folder.ts";
import { versionNumber } from "./show.ts";

interface Options {
  to?: string;
  at?: number;
}

export function addPersonasExportCommand(group: Command, host: CliHost): void {
  group
    .command("export")
    .description("Export a persona to a folder from which it can be created again.")
    .argument("<persona>", "its slug or id")
    .option("--to <folder>", "a new or empty folder (default: one named after the slug)")
    .option("--at <version>", "this version instead of the newest", versionNumber)
    .action((name: string, options: Options, command: Command) =>
      perform(host, command, (invocation) => exportPersona(invocation, name, options)),
    );
}

async function exportPersona(
  invocation: Invocation,
  name: string,
  { to, at }: Options,
): Promise<Ending> {
  const api = invocation.api();
  const which = { orgId: await resolveOrgId(api), id: name };
  const { persona } = await api.personas.get(which);
  const response = await api.personas.getVersion({ ...which, n: String(at ?? persona.version) });
  const exported = exportOf(response.version, persona);
  const folder = await writePersonaFolder(to ?? persona.slug, exported);
  const number = response.version.version;
  invocation.print({ folder, version: number }, [
    `${persona.slug} version ${number} was written to ${folder}.`,
  ]);
  return DONE;
}

import { type Command, InvalidArgumentError } from "commander";
import type { Persona, Version } from "#features/personas/contract.ts";
import type { CliHost } from "#surfaces/cli/kit/host.ts";
import { DONE, type Ending, type Invocation, perform } from "#surfaces/cli/kit/invocation.ts";
import { safeLine, safeText } from "#surfaces/cli/kit/text/terminal.ts";
import { resolveOrgId } from "#surfaces/cli/kit/who.ts";

export function addPersonasShowCommand(group: Command, host: CliHost): void {
  group
    .command("show")
    .description("Show a persona with its files.")
    .argument("<persona>", "its slug or id")
    .option("--at <version>", "this version instead of the newest", versionNumber)
    .action((name: string, options: { at?: number }, command: Command) =>
      perform(host, command, (invocation) => showPersona(invocation, name, options.at)),
    );
}

export function versionNumber(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("Use a whole number above 0.");
}

async function showPersona(
  invocation: Invocation,
  name: string,
  version: number | undefined,
): Promise<Ending> {
  const api = invocation.api();
  const which = { orgId: await resolveOrgId(api), id: name };
  if (version === undefined) {
    const response = await api.personas.get(which);
    const { slug, visibility, isDefault } = response.persona;
    const about = `${slug}, ${visibility}${isDefault ? ", default" : ""}`;
    invocation.print(response, linesOf(response.persona, about));
  } else {
    const response = await api.personas.getVersion({ ...which, n: String(version) });
    invocation.print(response, linesOf(response.version, `saved ${response.version.createdAt}`));
  }
  return DONE;
}

function linesOf(shown: Persona | Version, about: string): string[] {
  const { name, version, description, model, runtime, enableMemory } = shown;
  const settings = [
    ["model", model],
    ["runtime", runtime],
    ["memory", enableMemory === null ? null : enableMemory ? "on" : "off"],
  ].flatMap(([key, value]) => (value === null ? [] : [`${key}: ${safeLine(String(value))}`]));
  return [
    `${safeLine(name)} (${about}, version ${version})`,
    ...(description === "" ? [] : [safeLine(description)]),
    ...settings,
    ...shown.toolPolicy.map((rule) => safeLine(`${rule.effect}: ${rule.tool} ${rule.pattern}`)),
    ...shown.skills.map((skill) =>
      safeLine(`skill: ${skill.name} (${skill.sha256.slice(0, 12)}): ${skill.description}`),
    ),
    ...shown.files.flatMap(({ filename, content }) => [
      "",
      `── ${safeLine(filename)}`,
      safeText(content).trimEnd(),
    ]),
  ];
}

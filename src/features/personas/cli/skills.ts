/** `muster personas skills`: skills of a persona, from a folder or a git repository. */
import type { Command } from "commander";
import type { Persona, SkillSummary } from "#features/personas/contract.ts";
import { confirm } from "#surfaces/cli/kit/confirm.ts";
import { EXIT } from "#surfaces/cli/kit/exit-codes.ts";
import type { CliHost } from "#surfaces/cli/kit/host.ts";
import { DONE, type Ending, type Invocation, perform } from "#surfaces/cli/kit/invocation.ts";
import { printTable, safeLine, shorten } from "#surfaces/cli/kit/text/terminal.ts";
import { resolveOrgId } from "#surfaces/cli/kit/who.ts";
import { readSkillsIn } from "./folder.ts";

const DESCRIPTION_WIDTH = 60;
const HASH_CHARS = 12;

const EXAMPLES = `
Examples:
  muster personas skills add engineer ./skills/pdf
  muster personas skills import engineer https://github.com/acme/skills --path skills/pdf
  muster personas skills import engineer https://github.com/acme/skills --ref v2 --json`;

export function addPersonasSkillsCommands(group: Command, host: CliHost): void {
  const skills = group
    .command("skills")
    .description("Skills of a persona: list, add from a folder, import from git, remove.")
    .addHelpText("after", EXAMPLES);
  skills
    .command("list")
    .alias("ls")
    .description("List the skills of a persona and the hashes they are pinned to.")
    .argument("<persona>", "its slug or id")
    .action((name: string, _options: object, command: Command) =>
      perform(host, command, (invocation) => listSkills(invocation, name)),
    );
  skills
    .command("add")
    .description("Add a folder with a SKILL.md, or with several such folders, to a persona.")
    .argument("<persona>", "its slug or id")
    .argument("<folder>", "a folder on this machine")
    .action((name: string, folder: string, _options: object, command: Command) =>
      perform(host, command, (invocation) => addSkills(invocation, name, folder)),
    );
  skills
    .command("import")
    .description(
      "Import skills from a git repository through the server; repeat it to update them.",
    )
    .argument("<persona>", "its slug or id")
    .argument("<url>", "https://… of the repository")
    .option("--ref <ref>", "a branch, a tag or a commit")
    .option("--path <folder>", "only this folder of the repository")
    .action((name: string, url: string, options: ImportOptions, command: Command) =>
      perform(host, command, (invocation) => importSkills(invocation, name, { url, ...options })),
    );
  skills
    .command("remove")
    .alias("rm")
    .description("Remove a skill from a persona. Sessions that have it keep it.")
    .argument("<persona>", "its slug or id")
    .argument("<skill>", "the skill's name")
    .option("--yes", "skip the question")
    .action((name: string, skill: string, { yes = false }: { yes?: boolean }, command: Command) =>
      perform(host, command, (invocation) => removeSkill(invocation, name, skill, yes)),
    );
}

interface ImportOptions {
  ref?: string;
  path?: string;
}

async function listSkills(invocation: Invocation, persona: string): Promise<Ending> {
  const api = invocation.api();
  const orgId = await resolveOrgId(api);
  const response = await api.personas.listSkills({ orgId, id: persona });
  const { items } = response;
  if (invocation.json) invocation.print(response, []);
  else if (items.length === 0)
    invocation.print(null, [
      `No skills. Add one with: muster personas skills add ${persona} FOLDER`,
    ]);
  else printTable(invocation.host, ["NAME", "HASH", "FROM", "DESCRIPTION"], items.map(rowOf));
  return DONE;
}

function rowOf({ name, sha256, source, description }: SkillSummary): string[] {
  const from = source === null ? "files" : `${source.url} ${source.commit.slice(0, HASH_CHARS)}`;
  return [name, sha256.slice(0, HASH_CHARS), from, shorten(description, DESCRIPTION_WIDTH)];
}

/** Uploads the files of a folder: the server never reads a path of a user's machine. */
async function addSkills(invocation: Invocation, persona: string, folder: string): Promise<Ending> {
  const skills = await readSkillsIn(folder);
  const api = invocation.api();
  const orgId = await resolveOrgId(api);
  let response: { persona: Persona } | undefined;
  const lines: string[] = [];
  for (const { name, files } of skills) {
    response = await api.personas.setSkill({ orgId, id: persona, name, body: { files } });
    const { slug, version } = response.persona;
    lines.push(safeLine(`${slug} has the skill ${name} (version ${version}).`));
  }
  invocation.print(response, lines);
  return DONE;
}

async function importSkills(
  invocation: Invocation,
  persona: string,
  body: ImportOptions & { url: string },
): Promise<Ending> {
  const api = invocation.api();
  const orgId = await resolveOrgId(api);
  const response = await api.personas.importSkills({ orgId, id: persona, body });
  const { slug, version } = response.persona;
  const lines = response.skills.map(({ name, change, sha256, source }) =>
    safeLine(
      `${change}: ${name} (${sha256.slice(0, HASH_CHARS)}, commit ${source?.commit.slice(0, HASH_CHARS)})`,
    ),
  );
  const isNew = response.skills.some(({ change }) => change !== "unchanged");
  lines.push(isNew ? `${slug} is at version ${version}.` : `${slug} already has them.`);
  invocation.print(response, lines);
  return DONE;
}

async function removeSkill(
  invocation: Invocation,
  persona: string,
  skill: string,
  isSure: boolean,
): Promise<Ending> {
  const { host } = invocation;
  const mustAsk = host.stdin.isTTY === true && !isSure;
  if (mustAsk && !(await confirm(host, `Remove the skill ${skill} from ${persona}?`))) {
    invocation.note("Nothing was changed.");
    return EXIT.failed;
  }
  const api = invocation.api();
  const orgId = await resolveOrgId(api);
  const response = await api.personas.deleteSkill({ orgId, id: persona, name: skill });
  const { slug, version } = response.persona;
  invocation.print(response, [`${slug} no longer has ${skill} (version ${version}).`]);
  return DONE;
}

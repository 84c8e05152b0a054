/** Draft of a repository's settings. Pure. */
import type { Repo, RepoChange } from "#features/repos/contract.ts";
import type { Problems } from "#surfaces/web/kit/settings/field-problems.ts";

/** Values as typed; empty for none. */
export interface RepoDraft {
  description: string;
  defaultBranch: string;
  setupCommand: string;
  personaSlug: string;
  credential: string;
  /** Write-only: empty keeps the current secret. */
  webhookSecret: string;
  dropsWebhookSecret: boolean;
}

const SETTINGS = [
  "description",
  "defaultBranch",
  "setupCommand",
  "personaSlug",
  "credential",
] as const;

export function draftOfRepo(repo: Repo): RepoDraft {
  const values = Object.fromEntries(SETTINGS.map((name) => [name, repo[name] ?? ""]));
  const { description = "", defaultBranch = "", setupCommand = "" } = values;
  const { personaSlug = "", credential = "" } = values;
  return {
    description,
    defaultBranch,
    setupCommand,
    personaSlug,
    credential,
    webhookSecret: "",
    dropsWebhookSecret: false,
  };
}

/** Returns only changed fields: the others keep following GitHub. */
export function repoBodyOf(repo: Repo, draft: RepoDraft): RepoChange {
  const changed = SETTINGS.filter((name) => draft[name].trim() !== (repo[name] ?? ""));
  const body: RepoChange = Object.fromEntries(
    changed.map((name) => [name, draft[name].trim() === "" ? null : draft[name].trim()]),
  );
  if (draft.dropsWebhookSecret) body.webhookSecret = null;
  else if (draft.webhookSecret !== "") body.webhookSecret = draft.webhookSecret;
  return body;
}

const SECRET_NAME = /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/;

/** Finds what would surely be refused; the server checks the rest. */
export function repoProblems(draft: RepoDraft): Problems {
  const problems: Record<string, string> = {};
  if (/^-|\s|\.\.|@\{/.test(draft.defaultBranch.trim()))
    problems.defaultBranch = "Not a valid branch name. Check the spelling.";
  const credential = draft.credential.trim();
  if (credential !== "" && !SECRET_NAME.test(credential))
    problems.credential = "Enter the name of a secret, such as GITHUB_TOKEN, not the token itself.";
  const secret = draft.dropsWebhookSecret ? "" : draft.webhookSecret;
  if (secret !== "" && !/^[\x21-\x7e]{8,200}$/.test(secret))
    problems.webhookSecret = "Use 8 to 200 letters, digits and symbols, without spaces.";
  return problems;
}

export function isFieldOfRepo(path: string): boolean {
  return path === "webhookSecret" || (SETTINGS as readonly string[]).includes(path);
}

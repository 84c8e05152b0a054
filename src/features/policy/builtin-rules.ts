/** What holds where nobody has said anything else. Each rule says why, to the person and to the model. */

import { isSecretPath } from "#protocol/secret-paths.ts";
import type { SimpleCommand } from "./bash-commands.ts";
import type { CallFacts } from "./call-facts.ts";
import type { Rule } from "./contract.ts";
import { deletesTrees, gitWords } from "./deletions.ts";
import { isKnownPlace } from "./known-hosts.ts";
import { isSecretGlob, readsSecrets } from "./secret-files.ts";

interface BuiltinRule {
  rule: Rule;
  speaksOf(call: CallFacts): boolean;
}

function builtin(
  name: string,
  tool: string,
  pattern: string,
  effect: Rule["effect"],
  note: string,
  speaksOf: (call: CallFacts) => boolean,
): BuiltinRule {
  const rule: Rule = {
    id: `builtin:${name}`,
    level: "builtin",
    sessionId: null,
    tool,
    pattern,
    match: "glob",
    effect,
    note,
    createdBy: null,
    createdAt: null,
  };
  return { rule, speaksOf: (call) => (tool === "*" || tool === call.tool) && speaksOf(call) };
}

/** Of those that speak of a call, the first counts. */
export const builtinRules: readonly BuiltinRule[] = [
  builtin(
    "tangled",
    "bash",
    "a command nested or repeated beyond reading",
    "ask",
    "It is too tangled to tell what it runs.",
    ({ shell }) => shell?.tangled ?? false,
  ),
  builtin(
    "recursive-delete",
    "bash",
    "rm -r …, find … -delete, git clean, rsync --delete",
    "ask",
    "It deletes whole folders, and they may hold more than this session's own work.",
    ({ shell, fresh }) => shell !== null && deletesTrees(shell, fresh),
  ),
  builtin(
    "git-push",
    "bash",
    "git push …",
    "ask",
    "It sends commits to where others see them.",
    ({ shell }) => shell?.commands.some(pushes) ?? false,
  ),
  builtin(
    "pull-request",
    "bash",
    "gh pr create …, glab mr create …",
    "ask",
    "It opens a pull request in your name.",
    ({ shell }) => shell?.commands.some(opensPullRequest) ?? false,
  ),
  builtin(
    "secrets-in-commands",
    "bash",
    ".env, id_rsa, *.pem, credentials, .npmrc, .netrc",
    "ask",
    "It names a file that usually holds secrets.",
    ({ shell }) => shell !== null && readsSecrets(shell),
  ),
  ...["read", "grep"].map((tool) =>
    builtin(
      `secrets-in-${tool}`,
      tool,
      ".env, id_rsa, *.pem, credentials, .npmrc, .netrc",
      "ask",
      "It is a file that usually holds secrets, and the model would see them.",
      ({ path, glob }) =>
        (path !== null && isSecretPath(path)) || (glob !== null && isSecretGlob(glob)),
    ),
  ),
  builtin(
    "known-places",
    "web_fetch",
    "documentation, package indexes, source",
    "allow",
    "It is one of the well-known places to read about software.",
    ({ url }) => url !== null && isKnownPlace(url),
  ),
  builtin(
    "other-places",
    "web_fetch",
    "*",
    "ask",
    "It is not one of the well-known places, and an address can carry information out.",
    () => true,
  ),
  builtin(
    "in-the-sandbox",
    "*",
    "*",
    "allow",
    "It works inside the session's sandbox.",
    () => true,
  ),
];

const PUSHES = new Set(["push", "send-pack", "http-push"]);
const PUSHING_PAIRS = new Set(["subtree push", "lfs push", "svn dcommit", "p4 submit"]);

function pushes(command: SimpleCommand): boolean {
  const [first = "", second = ""] = gitWords(command);
  return PUSHES.has(first) || PUSHING_PAIRS.has(`${first} ${second}`);
}

const OPENS =
  /^(?:gh pr (?:create|new)|hub pull-request|glab mr (?:create|new)|tea pr(?:s|ull|ulls)? (?:create|c))(?: |$)/;

function opensPullRequest({ name, words }: SimpleCommand): boolean {
  const texts = words.slice(1).map((word) => word.text);
  const plain = [name, ...withoutOptions(texts)].join(" ");
  if (OPENS.test(plain) || /^az repos pr create/.test(plain)) return true;
  if (name !== "gh" && name !== "glab") return false;
  return (
    plain.startsWith(`${name} api `) && /\/(?:pulls|merge_requests)\b/.test(plain) && writes(texts)
  );
}

const REPOSITORY = new Set(["-R", "--repo", "--hostname"]);

function withoutOptions(texts: readonly string[]): string[] {
  return texts.filter((text, at) => !text.startsWith("-") && !REPOSITORY.has(texts[at - 1] ?? ""));
}

function writes(texts: readonly string[]): boolean {
  return texts.some((text) => /^(?:-[fFX]|--(?:field|raw-field|method|input))/.test(text));
}

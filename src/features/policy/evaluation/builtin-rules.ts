/**
 * Built-in rules, which hold where no rule of a person or an org matches.
 * Each gives its reason to the person and to the model.
 */

import { isSecretPath } from "#protocol/names/secret-paths.ts";
import type { Rule } from "../contract.ts";
import type { CallFacts } from "./call-facts.ts";
import { deletesTrees } from "./deletions.ts";
import { isKnownPlace } from "./known-hosts.ts";
import { opensPullRequest, publishes, pushes } from "./publishing.ts";
import { isSecretGlob, touchesSecrets } from "./secret-files.ts";

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
    coversChildren: false,
    sandboxedOnly: false,
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

/** Built-in rules in order; the first that matches a call counts. */
export const builtinRules: readonly BuiltinRule[] = [
  builtin(
    "tangled",
    "bash",
    "a command too long, nested or repeated to analyse",
    "ask",
    "The command is too long or too complex to analyse.",
    ({ shell }) => shell?.tangled ?? false,
  ),
  builtin(
    "recursive-delete",
    "bash",
    "rm -r …, rm *, find … -delete, git clean, git reset --hard, rsync --delete",
    "ask",
    "Bulk delete; may affect files outside this session.",
    ({ shell, fresh }) => shell !== null && deletesTrees(shell, fresh),
  ),
  builtin(
    "git-push",
    "bash",
    "git push …, or a git command that may push",
    "ask",
    "Pushes commits to where others can see them, or may do so.",
    ({ shell }) => shell?.commands.some(pushes) ?? false,
  ),
  builtin(
    "pull-request",
    "bash",
    "gh pr create …, glab mr create …",
    "ask",
    "Opens a pull request in your name.",
    ({ shell }) => shell?.commands.some(opensPullRequest) ?? false,
  ),
  builtin(
    "push-branch",
    "push_branch",
    "*",
    "ask",
    "Pushes commits to where others can see them.",
    () => true,
  ),
  builtin(
    "create-pull-request",
    "create_pull_request",
    "*",
    "ask",
    "Pushes commits to where others can see them, and opens a pull request in your name.",
    () => true,
  ),
  builtin(
    "publish",
    "bash",
    "gh pr merge …, gh release create …, npm publish, docker push …",
    "ask",
    "Publishes something in your name.",
    ({ shell }) => shell?.commands.some(publishes) ?? false,
  ),
  builtin(
    "secrets-in-commands",
    "bash",
    ".env, id_rsa, *.pem, *.key, credentials, .npmrc, .netrc",
    "ask",
    "Names a file that usually contains secrets.",
    ({ shell }) => shell !== null && touchesSecrets(shell),
  ),
  ...["read", "grep", "edit", "write"].map((tool) =>
    builtin(
      `secrets-in-${tool}`,
      tool,
      ".env, id_rsa, *.pem, *.key, credentials, .npmrc, .netrc",
      "ask",
      tool === "read" || tool === "grep"
        ? "This file usually contains secrets, and the model would see them."
        : "This file usually contains secrets, and they would be changed.",
      ({ path, glob }) =>
        (path !== null && isSecretPath(path)) || (glob !== null && isSecretGlob(glob)),
    ),
  ),
  builtin(
    "known-places",
    "web_fetch",
    "documentation, questions and answers, source",
    "allow",
    "A well-known site about software.",
    ({ url }) => url !== null && isKnownPlace(url),
  ),
  builtin(
    "other-places",
    "web_fetch",
    "*",
    "ask",
    "Not a well-known site, and an address can carry information out.",
    () => true,
  ),
  builtin(
    "no-sandbox",
    "bash",
    "any command on a machine without a sandbox",
    "ask",
    "The machine has no sandbox: the command would run with all rights of the runner's user.",
    ({ sandboxed }) => !sandboxed,
  ),
  builtin("in-the-sandbox", "*", "*", "allow", "Runs inside the session's sandbox.", () => true),
];

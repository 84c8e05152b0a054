/** Commands that publish something to others: pushes, pull requests, releases. */
import type { SimpleCommand } from "../shell/bash-commands.ts";
import { isOwnCommand, readGit } from "../shell/git-words.ts";
import type { Word } from "../shell/shell-lexer.ts";

const PUSHING_PAIRS = new Set(["lfs push", "subtree push", "svn dcommit", "p4 submit"]);

/** True also if the text hides the subcommand: nobody who means another one needs to hide it. */
export function pushes(command: SimpleCommand): boolean {
  const git = readGit(command.name, command.words);
  if (!git) return false;
  const { options, subcommand, args } = git;
  if (options.some(bringsCommands)) return true;
  if (!subcommand) return command.openEnded;
  if (command.name === "hub" && HUB.has(subcommand.text)) return false;
  if (!subcommand.known || subcommand.globs || !isOwnCommand(subcommand.text)) return true;
  const [second] = args.filter(({ text }) => !text.startsWith("-"));
  if (!second) return command.openEnded && PAIRED.has(subcommand.text);
  return (
    PUSHING_PAIRS.has(`${subcommand.text} ${second.text}`) ||
    (!second.known && PAIRED.has(subcommand.text))
  );
}

const PAIRED = new Set([...PUSHING_PAIRS].map((pair) => pair.split(" ")[0] as string));
const HUB = new Set([
  ..."api browse ci-status compare issue pr pull-request release sync".split(" "),
]);

/** True for settings and programs from elsewhere, which may turn any word into a push. */
function bringsCommands({ text, known }: Word): boolean {
  if (/^--(?:config-env|exec-path=)/.test(text)) return true;
  const value = /^(?:-c)?[\w.-]+=(.*)$/s.exec(text)?.[1];
  return value !== undefined && (/\bpush\b/.test(value) || (!known && /alias\./i.test(text)));
}

const OPENS =
  /^(?:gh pr (?:create|new)|hub pull-request|glab mr (?:create|new)|tea pr(?:s|ull|ulls)? (?:create|c)|az repos pr create)(?: |$)/;

export function opensPullRequest(command: SimpleCommand): boolean {
  const { name } = command;
  const plain = plainText(command);
  if (OPENS.test(plain)) return true;
  return callsApi(command) && /\/(?:pulls|merge_requests)\b/.test(plain) && name !== "hub";
}

const PUBLISHES: readonly RegExp[] = [
  /^gh pr merge/,
  /^gh release (?:create|new|upload|edit|delete)/,
  /^gh repo (?:create|new|delete|edit|rename|archive|sync|fork)/,
  /^gh (?:workflow run|gist create|secret set)/,
  /^glab (?:mr merge|release (?:create|upload|delete))/,
  /^hub (?:sync|release (?:create|edit|delete))/,
  /^(?:npm|pnpm|bun|cnpm|lerna|changeset|vsce|ovsx|jsr|deno) (?:publish|unpublish)/,
  /^(?:npm|pnpm) (?:dist-tag add|deprecate|-r publish)/,
  /^(?:pnpm|npm) (?:\S+ )?publish/,
  /^yarn (?:npm )?publish/,
  /^cargo (?:publish|yank)/,
  /^twine upload/,
  /^(?:poetry|uv|flit|hatch|pdm|maturin|rye) publish/,
  /^gem (?:push|yank)/,
  /^(?:dotnet )?nuget push/,
  /^(?:docker|podman|nerdctl|buildah) (?:push|(?:image|manifest|compose) push)/,
  /^(?:helm|oras|skopeo) (?:push|copy)/,
  /^mvnw? (?:\S+ )*deploy/,
  /^(?:semantic-release|np|goreleaser release)/,
].map((pattern) => new RegExp(`(?:${pattern.source})(?: |$)`));

export function publishes(command: SimpleCommand): boolean {
  if (command.words.some(({ text }) => text === "--dry-run")) return false;
  const plain = plainText(command);
  if (PUBLISHES.some((pattern) => pattern.test(plain))) return true;
  if (/^(?:docker|podman) /.test(plain)) return command.words.some(({ text }) => text === "--push");
  return callsApi(command);
}

/** Maximum of arguments to look at: no publishing command needs more to be recognised. */
const MAX_ARGS = 12;

function plainText({ name, words }: SimpleCommand): string {
  const texts = words.slice(1).map((word) => word.text);
  return [name, ...withoutOptions(texts).slice(0, MAX_ARGS)].join(" ").slice(0, 500);
}

/** True for `gh api` with a request body or a method that writes. */
function callsApi({ name, words }: SimpleCommand): boolean {
  if (name !== "gh" && name !== "glab" && name !== "hub") return false;
  const texts = words.slice(1).map((word) => word.text);
  if (withoutOptions(texts)[0] !== "api") return false;
  if (texts.some((text) => /^(?:-X|--method=?)(?:GET|HEAD)?$/i.test(text)) && isGet(texts))
    return false;
  return texts.some((text) => /^(?:-[fFX]|--(?:field|raw-field|method|input))/.test(text));
}

function isGet(texts: readonly string[]): boolean {
  return texts.some(
    (text, at) =>
      /^(?:-X|--method=)(?:GET|HEAD)$/i.test(text) ||
      (/^(?:-X|--method)$/.test(texts[at - 1] ?? "") && /^(?:GET|HEAD)$/i.test(text)),
  );
}

const REPOSITORY = new Set(["-R", "--repo", "--hostname"]);

function withoutOptions(texts: readonly string[]): string[] {
  return texts.filter((text, at) => !text.startsWith("-") && !REPOSITORY.has(texts[at - 1] ?? ""));
}

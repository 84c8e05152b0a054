/**
 * Evaluates the rules for a call. A deny at any level is a no. Otherwise the highest level with a
 * matching rule decides: org, then user, then built-in. Within a level ask comes before allow, unless
 * the allow is more exact.
 */

import type { Rule } from "../contract.ts";
import { commandText, type SimpleCommand } from "../shell/bash-commands.ts";
import { normalPath } from "../shell/paths.ts";
import { builtinRules } from "./builtin-rules.ts";
import { type CallFacts, isPathTool } from "./call-facts.ts";
import { type Match, matchesGlob, newSteps, type Steps } from "./patterns.ts";

export interface Evaluation {
  effect: Rule["effect"];
  reason: string;
  /** The deciding rule. */
  rule: Rule;
  /** All rules that match the call. */
  matched: Rule[];
}

export function evaluate(
  call: CallFacts,
  rules: readonly Rule[],
  steps: Steps = newSteps(),
): Evaluation {
  const prepared: PreparedCall = { call, steps, spellings: spellingsOf(call) };
  const own = rules.filter((rule) => speaksOf(rule, prepared));
  const builtin = builtinRules.find((entry) => entry.speaksOf(call))?.rule as Rule;
  const matched = [...own, builtin];
  const rule = own.find(({ effect }) => effect === "deny") ?? decidingRule(own) ?? builtin;
  return { effect: rule.effect, reason: reasonOf(rule), rule, matched };
}

function decidingRule(matched: readonly Rule[]): Rule | undefined {
  for (const level of ["org", "user"] as const) {
    const [first, ...others] = matched.filter((rule) => rule.level === level);
    if (first) return others.reduce((best, rule) => (outweighs(rule, best) ? rule : best), first);
  }
  return undefined;
}

function outweighs(rule: Rule, other: Rule): boolean {
  const difference = exactness(rule) - exactness(other);
  if (rule.effect === other.effect) return difference > 0;
  // An allow must be more exact than the ask that it lifts; an ask need not be.
  return rule.effect === "allow" ? difference > 0 : difference >= 0;
}

function exactness({ tool, pattern, match }: Rule): number {
  const ofPattern = match === "exact" ? 2 : pattern === "*" ? 0 : 1;
  return ofPattern * 2 + (tool === "*" ? 0 : 1);
}

function reasonOf({ id, level, pattern, tool, note, effect }: Rule): string {
  if (level === "builtin") return `${note} (${id})`;
  const whose = level === "org" ? "a rule of the organisation" : "your own rule";
  const shown = pattern.length > 200 ? `${pattern.slice(0, 200)}…` : pattern;
  const words = { allow: "allows", ask: "asks first for", deny: "does not allow" }[effect];
  return `${whose} (${id}) ${words} ${tool} on ${shown}${note ? `: ${note}` : "."}`;
}

/** A call, prepared once for all rules. */
interface PreparedCall {
  call: CallFacts;
  /** Each command in each spelling. */
  spellings: readonly string[];
  steps: Steps;
}

function speaksOf(rule: Rule, prepared: PreparedCall): boolean {
  const { call } = prepared;
  if (rule.tool !== "*" && rule.tool !== call.tool) return false;
  if (rule.effect === "allow" && !mayAllow(rule, call)) return false;
  if (rule.match === "glob" && rule.pattern === "*") return true;
  if (call.target === null) return false;
  return rule.effect === "allow"
    ? matchesWhole(rule, prepared, call.target)
    : matchesAnyPart(rule, prepared, call.target);
}

/**
 * True if an allow may apply to the call. A command means something else in another folder and runs
 * unseen in the background, so a rule that names it allows neither. A command that could not be read
 * may hide a part that another rule stops: only exactly the text that a person has seen is allowed. A
 * yes that was given for a sandbox allows nothing outside of one.
 */
function mayAllow(
  { match, sandboxedOnly }: Rule,
  { shell, plainPlace, sandboxed }: CallFacts,
): boolean {
  if (sandboxedOnly && !sandboxed) return false;
  return shell === null || (plainPlace && (match === "exact" || !shell.tangled));
}

/** Matches narrowly: an allow must cover the whole call, and all of it must be known. */
function matchesWhole(
  { pattern, match }: Rule,
  { call, steps }: PreparedCall,
  target: string,
): boolean {
  if (match === "exact") return pattern === target;
  if (call.shell) {
    const { commands, opaque } = call.shell;
    return (
      !opaque && commands.length > 0 && commands.every((one) => isCovered(one, pattern, steps))
    );
  }
  if (call.tool === "web_fetch")
    return call.url !== null && matchesUrl(pattern, call.url, steps) === true;
  if (call.path !== null)
    return (
      !call.path.startsWith("..") &&
      matchesGlob(normalPath(pattern), call.path, "path", steps) === true
    );
  return matchesGlob(pattern, target, "text", steps) === true;
}

/** True if the glob shows the whole command: no redirection, no variable set for it, no unknown word. */
function isCovered(command: SimpleCommand, pattern: string, steps: Steps): boolean {
  return (
    command.assignments.length === 0 &&
    command.redirects.every(isHarmlessRedirect) &&
    !command.openEnded &&
    command.words.every(({ known }) => known) &&
    matchesGlob(pattern, commandText(command), "text", steps) === true
  );
}

/** True for a redirection to `/dev/null` or to another stream. A bare number is the name of a file. */
function isHarmlessRedirect({ operator, target }: SimpleCommand["redirects"][number]): boolean {
  return (
    target.text === "/dev/null" || (/^[<>]&$/.test(operator) && /^(?:\d+|-)$/.test(target.text))
  );
}

/** Matches widely: any part of the call, in any spelling, and when matching runs out of steps. */
function matchesAnyPart(
  { pattern, match }: Rule,
  { call, spellings, steps }: PreparedCall,
  target: string,
): boolean {
  const kind = isPathTool(call.tool) ? "path" : "text";
  const fits = (text: string) =>
    match === "exact" ? pattern === text : matchesGlob(pattern, text, kind, steps) !== false;
  if (fits(target)) return true;
  if (call.shell) return spellings.some(fits);
  if (call.url)
    return (
      fits(call.url.href) ||
      (match === "glob" && matchesUrl(pattern, call.url, steps) !== false) ||
      fits(call.url.hostname)
    );
  return call.path !== null && endings(call.path).some(fits);
}

/** Lists the spellings once per call, since there may be many commands and many rules. */
function spellingsOf({ shell }: CallFacts): string[] {
  return [...new Set(shell?.commands.flatMap(spellings) ?? [])];
}

function spellings(command: SimpleCommand): string[] {
  const text = commandText(command);
  const named = [command.name, ...command.words.slice(1).map((word) => word.text)].join(" ");
  return [text, named];
}

/** Returns the path and, if it is absolute, every relative path that it may be inside the workspace. */
function endings(path: string): string[] {
  if (!path.startsWith("/")) return [path];
  const steps = path.slice(1).split("/");
  return [path, ...steps.map((_, from) => steps.slice(from).join("/"))];
}

/** Matches `example.org`, `*.example.org` or a glob of a whole URL. */
function matchesUrl(pattern: string, url: URL, steps: Steps): Match {
  if (url.username !== "" || url.password !== "") return false;
  if (pattern.includes("://")) return matchesGlob(pattern, url.href, "text", steps);
  if (url.port !== "") return false;
  return matchesGlob(pattern.toLowerCase(), url.hostname, "text", steps);
}

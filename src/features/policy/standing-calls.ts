/**
 * Standing decisions: the later or waiting calls that they cover. A yes covers only calls that a person
 * would be shown in the same way, so everything that matters is part of a call's key: the tool, its
 * arguments, the folder, the reason for asking, and the sandbox.
 */
import { createHash } from "node:crypto";
import { cleanJson } from "#base/text/clean-text.ts";
import type { SessionRow } from "#engine/index.ts";
import { MAX_PATTERN_CHARS } from "./contract.ts";
import type { PolicyRuleRow } from "./schema.ts";

/** A call as a person was shown it. */
export interface DecidedCall {
  tool: string;
  target: string | null;
  /** JSON of a `ShownCall`. */
  shown: string;
}

export interface ShownCall {
  input: unknown;
  cwd?: string | null;
  reason?: string | null;
  /** Set for commands only; false if the machine has no sandbox. */
  sandboxed?: boolean;
}

/**
 * Returns the target of the rule that a decision would make; null if the decision can hold only once. A
 * yes says nothing about other folders or background commands, so those are asked about each time; a no
 * may stand for all of them.
 */
export function standingTarget(
  { tool, target, shown }: DecidedCall,
  effect: "allow" | "deny",
): string | null {
  if (target === null || target.length > MAX_PATTERN_CHARS) return null;
  if (tool !== "bash" || effect === "deny") return target;
  const { input, cwd } = JSON.parse(shown) as ShownCall;
  const isBackground = (input as { background?: unknown } | null)?.background === true;
  return (cwd ?? null) === null && !isBackground ? target : null;
}

/** Returns the key of a call. Equal keys mean that a person would decide about the same thing. */
export function callKey(tool: string, { input, cwd, reason, sandboxed }: ShownCall): string {
  const facts = [tool, argumentsThatMatter(tool, input), cwd ?? null, reason ?? null];
  return createHash("sha256")
    .update(cleanJson([...facts, sandboxed ?? null]))
    .digest("base64url");
}

/** Drops the timeout of a command: it does not change what the command does. */
function argumentsThatMatter(tool: string, input: unknown): unknown {
  if (tool !== "bash") return sortKeys(input);
  const { timeoutMs: _limit, ...rest } = input as { timeoutMs?: unknown };
  return sortKeys(rest);
}

/** Sorts keys, because a model writes the same arguments in any order. */
function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([name, item]) => [name, sortKeys(item)]));
}

/**
 * Tools whose call means the same in a child. A push without a named branch is not among them, because
 * it pushes another branch there; nor are calls that name processes, messages and sessions by id.
 */
const CHILD_TOOLS: ReadonlySet<string> = new Set([
  "bash",
  "read",
  "write",
  "edit",
  "grep",
  "glob",
  "web_fetch",
]);
const PUSH_TOOLS: ReadonlySet<string> = new Set(["push_branch", "create_pull_request"]);

/** Value of `child_key` of a no, which covers every call of the target. */
const ANY_CALL = "*";

/** Returns the key of the children's calls that a rule for one session covers; null: none. */
export function childKeyOf(call: DecidedCall, effect: "allow" | "deny"): string | null {
  if (effect === "deny") return ANY_CALL;
  if (standingTarget(call, effect) === null) return null;
  const shown = JSON.parse(call.shown) as ShownCall;
  return meansSameInChild(call.tool, shown) ? callKey(call.tool, shown) : null;
}

/**
 * True if a yes to this call holds only inside a sandbox: without one, the same command reaches the
 * whole machine, and the person was not shown that.
 */
export function isForSandboxOnly({ tool, shown }: DecidedCall): boolean {
  return tool === "bash" && (JSON.parse(shown) as ShownCall).sandboxed === true;
}

function meansSameInChild(tool: string, { input, sandboxed }: ShownCall): boolean {
  if (tool === "bash") return sandboxed === true;
  const names = PUSH_TOOLS.has(tool) && typeof (input as { branch?: unknown }).branch === "string";
  return CHILD_TOOLS.has(tool) || names;
}

/** True if this rule of a parent is a yes for exactly this call of its child. */
export function coversChild(rule: PolicyRuleRow, call: { tool: string } & ShownCall): boolean {
  return (
    rule.effect === "allow" &&
    meansSameInChild(call.tool, call) &&
    rule.child_key === callKey(call.tool, call)
  );
}

type Project = Pick<SessionRow, "org_id" | "owner_id" | "repo" | "project_dir" | "hostname">;

/**
 * True if a path or a command means the same files for both sessions: one repository, or one folder.
 * Two workspaces that began empty count too: each holds only the files of its own agent.
 */
export function isSameProject(parent: Project, child: Project): boolean {
  const isSameFolder = parent.project_dir === null || parent.hostname === child.hostname;
  return (
    parent.org_id === child.org_id &&
    parent.owner_id === child.owner_id &&
    parent.repo === child.repo &&
    parent.project_dir === child.project_dir &&
    isSameFolder
  );
}

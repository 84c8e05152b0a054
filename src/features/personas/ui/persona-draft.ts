/** Draft of a persona. Pure. */
import type { ApiRoutes, BodyOf } from "#client/index.ts";
import type { Persona, PersonaChange, Visibility } from "#features/personas/contract.ts";
import type { RuleEffect } from "#features/policy/contract.ts";
import type { Problems } from "#surfaces/web/kit/settings/field-problems.ts";

/** Path parameter of a new persona; no id has this form. */
export const NEW_PERSONA = "new";

export interface DraftFile {
  /** Stays the same while the file is renamed and moved. */
  key: number;
  filename: string;
  /** Number as typed. */
  order: string;
  content: string;
}

export interface DraftRule {
  key: number;
  tool: string;
  pattern: string;
  effect: RuleEffect;
}

export interface PersonaDraft {
  name: string;
  description: string;
  visibility: Visibility;
  /** Empty for automatic choice. */
  model: string;
  /** Empty for the server's default. */
  runtime: string;
  rules: DraftRule[];
  files: DraftFile[];
}

/** Gap that leaves room for a file between two others. */
const ORDER_STEP = 10;
const MAX_ORDER = 1_000_000;

export function newDraft(): PersonaDraft {
  const first = { key: 0, filename: "persona.md", order: String(ORDER_STEP), content: "" };
  return {
    name: "",
    description: "",
    visibility: "private",
    model: "",
    runtime: "",
    rules: [],
    files: [first],
  };
}

export function draftOf(persona: Persona): PersonaDraft {
  const { name, description, visibility, model, runtime, toolPolicy, files } = persona;
  return {
    name,
    description,
    visibility,
    model: model ?? "",
    runtime: runtime ?? "",
    rules: toolPolicy.map((rule, key) => ({ key, ...rule })),
    files: files.map(({ filename, sortOrder, content }, key) => ({
      key,
      filename,
      order: String(sortOrder),
      content,
    })),
  };
}

export function addFile(draft: PersonaDraft): PersonaDraft {
  const last = Math.max(0, ...draft.files.map(({ order }) => orderOf(order) ?? 0));
  const key = freeKey(draft.files);
  const order = String(Math.min(last + ORDER_STEP, MAX_ORDER));
  return { ...draft, files: [...draft.files, { key, filename: "", order, content: "" }] };
}

export function changeFile(
  draft: PersonaDraft,
  key: number,
  change: Partial<Omit<DraftFile, "key">>,
): PersonaDraft {
  const files = draft.files.map((file) => (file.key === key ? { ...file, ...change } : file));
  return { ...draft, files };
}

export function removeFile(draft: PersonaDraft, key: number): PersonaDraft {
  return { ...draft, files: draft.files.filter((file) => file.key !== key) };
}

function freeKey(items: readonly { key: number }[]): number {
  return Math.max(-1, ...items.map(({ key }) => key)) + 1;
}

export function addRule(draft: PersonaDraft): PersonaDraft {
  const rule: DraftRule = { key: freeKey(draft.rules), tool: "", pattern: "*", effect: "ask" };
  return { ...draft, rules: [...draft.rules, rule] };
}

export function changeRule(
  draft: PersonaDraft,
  key: number,
  change: Partial<Omit<DraftRule, "key">>,
): PersonaDraft {
  const rules = draft.rules.map((rule) => (rule.key === key ? { ...rule, ...change } : rule));
  return { ...draft, rules };
}

export function removeRule(draft: PersonaDraft, key: number): PersonaDraft {
  return { ...draft, rules: draft.rules.filter((rule) => rule.key !== key) };
}

/** Finds what would surely be refused; the server checks the rest. */
export function problemsOf({ name, files, rules }: PersonaDraft): Problems {
  const problems: Record<string, string> = {};
  if (name.trim() === "") problems.name = "Enter a name.";
  const seen = new Set<string>();
  for (const [at, { filename, order }] of files.entries()) {
    const file = filename.trim();
    if (file === "") problems[`files.${at}.filename`] = "Enter a file name, such as rules.md.";
    else if (seen.has(file.toLowerCase()))
      problems[`files.${at}.filename`] = `${file} exists twice. Rename one of them.`;
    seen.add(file.toLowerCase());
    if (orderOf(order) === undefined)
      problems[`files.${at}.sortOrder`] = `Enter a whole number from 0 to ${MAX_ORDER}.`;
  }
  for (const [at, { tool, pattern }] of rules.entries()) {
    if (!TOOL.test(tool.trim()))
      problems[`toolPolicy.${at}.tool`] = "Enter a tool name, such as bash, or * for any tool.";
    if (pattern === "")
      problems[`toolPolicy.${at}.pattern`] = "Enter a pattern, or * for everything.";
  }
  return problems;
}

const TOOL = /^(?:\*|[a-z][a-z0-9_]{0,99})$/;

/** True if a problem of this path can be shown at a field. */
export function isFieldOfPersona(path: string): boolean {
  return /^(?:name|description|files\.\d+\.(?:filename|sortOrder|content)|toolPolicy\.\d+\.(?:tool|pattern))$/.test(
    path,
  );
}

type PersonaBody = BodyOf<ApiRoutes["personas"]["create"]> & Pick<PersonaChange, "ifVersion">;

export function bodyOf(draft: PersonaDraft, ifVersion: number | undefined): PersonaBody {
  return {
    name: draft.name.trim(),
    description: draft.description.trim(),
    visibility: draft.visibility,
    model: draft.model === "" ? null : draft.model,
    runtime: draft.runtime === "" ? null : draft.runtime,
    toolPolicy: draft.rules.map(({ tool, pattern, effect }) => ({
      tool: tool.trim(),
      pattern,
      effect,
    })),
    files: draft.files.map(({ filename, order, content }) => ({
      filename: filename.trim(),
      sortOrder: orderOf(order) ?? 0,
      content,
    })),
    ...(ifVersion !== undefined && { ifVersion }),
  };
}

function orderOf(text: string): number | undefined {
  const order = Number(text);
  const isOrder = /^\s*\d+\s*$/.test(text) && order <= MAX_ORDER;
  return isOrder ? order : undefined;
}

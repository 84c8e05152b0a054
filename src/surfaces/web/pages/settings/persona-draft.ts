/** A persona while it is being written. Pure. */
import type { Persona, Visibility } from "#features/personas/contract.ts";
import type { PersonaBody } from "#surfaces/web/kit/settings-api.ts";

/** Stands in the address where a persona's id would; no id is like it. */
export const NEW_PERSONA = "new";

export interface DraftFile {
  /** Stays while the file is renamed and moved. */
  key: number;
  filename: string;
  /** As typed. */
  order: string;
  content: string;
}

export interface PersonaDraft {
  name: string;
  description: string;
  visibility: Visibility;
  /** Empty for automatic. */
  model: string;
  files: DraftFile[];
}

/** Room to put a file between two others. */
const ORDER_STEP = 10;
const MAX_ORDER = 1_000_000;

export function newDraft(): PersonaDraft {
  const first = { key: 0, filename: "persona.md", order: String(ORDER_STEP), content: "" };
  return { name: "", description: "", visibility: "private", model: "", files: [first] };
}

export function draftOf({ name, description, visibility, model, files }: Persona): PersonaDraft {
  return {
    name,
    description,
    visibility,
    model: model ?? "",
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
  const key = Math.max(-1, ...draft.files.map((file) => file.key)) + 1;
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

/** What would surely be refused; the server has the last word. */
export function problemOf({ name, files }: PersonaDraft): string | undefined {
  if (name.trim() === "") return "Give it a name.";
  const seen = new Set<string>();
  for (const { filename, order } of files) {
    const file = filename.trim();
    if (file === "") return "Every file needs a name, such as rules.md.";
    if (seen.has(file.toLowerCase())) return `${file} is there twice. Rename one of the two.`;
    seen.add(file.toLowerCase());
    if (orderOf(order) === undefined)
      return `The order of ${file} must be a whole number from 0 to ${MAX_ORDER}.`;
  }
  return undefined;
}

export function bodyOf(draft: PersonaDraft, ifVersion: number | undefined): PersonaBody {
  return {
    name: draft.name.trim(),
    description: draft.description.trim(),
    visibility: draft.visibility,
    model: draft.model === "" ? null : draft.model,
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

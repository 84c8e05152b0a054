/**
 * Composes the files of a persona that an agent is given: SAFETY.md first, then by sort order; among
 * equals SYSTEM.md, then by name. REVIEW.md goes to reviews alone. Pure: the same version gives the
 * same files.
 */
import type { PersonaFile } from "./contract.ts";

export type Purpose = "task" | "review";

/** A file as it is written for the agent; the number in its name keeps the order. */
export interface ComposedFile {
  name: string;
  content: string;
}

const SAFETY = "safety.md";
const SYSTEM = "system.md";
const REVIEW = "review.md";

export function composePersona(
  { files }: { files: readonly PersonaFile[] },
  { purpose }: { purpose: Purpose },
): ComposedFile[] {
  return files
    .filter(({ filename }) => purpose === "review" || filename.toLowerCase() !== REVIEW)
    .toSorted(byOrder)
    .map(({ filename, content }, at) => ({ name: numbered(filename, at), content }));
}

export function byOrder(one: PersonaFile, other: PersonaFile): number {
  const safety = Number(isNamed(other, SAFETY)) - Number(isNamed(one, SAFETY));
  if (safety !== 0) return safety;
  if (one.sortOrder !== other.sortOrder) return one.sortOrder - other.sortOrder;
  const system = Number(isNamed(other, SYSTEM)) - Number(isNamed(one, SYSTEM));
  if (system !== 0) return system;
  if (one.filename === other.filename) return 0;
  return one.filename < other.filename ? -1 : 1;
}

function isNamed({ filename }: PersonaFile, name: string): boolean {
  return filename.toLowerCase() === name;
}

/** Numbers a file name. Runtimes read `*.md`, so other names get that extension too. */
function numbered(filename: string, at: number): string {
  const ending = filename.toLowerCase().endsWith(".md") ? "" : ".md";
  return `${String(at).padStart(2, "0")}-${filename}${ending}`;
}

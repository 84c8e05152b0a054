/**
 * Names of files, folders and personas. They become paths on a runner's disk, so a name that could
 * leave its folder, name a device or be a second name of a file is refused.
 */

export const FILENAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;
const SEGMENT = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,99}$/;
export const SKILL_NAME = /^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/;
export const MAX_SLUG_CHARS = 60;
export const SLUG = /^[a-z0-9](?:[a-z0-9-]{0,58}[a-z0-9])?$/;

const MAX_PATH_CHARS = 300;
const MAX_PATH_DEPTH = 8;

/** Devices on Windows, with any extension. */
const DEVICE = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i;

/** Names of the settings and skills in a persona folder. */
const RESERVED = /^(?:persona\.json|skills)$/i;

/** Returns the reason why a file name is invalid; undefined if it is valid. */
export function faultOfFilename(name: string): string | undefined {
  if (!FILENAME.test(name))
    return "must be a plain file name: letters, digits, dots, dashes and underscores, starting with a letter or digit, at most 100 characters";
  if (RESERVED.test(name)) return "is reserved for the settings and skills of a persona";
  return faultOfParts(name);
}

/** Returns the reason why a path inside a skill is invalid; `/` separates folders. */
export function faultOfPath(path: string): string | undefined {
  if (path.length > MAX_PATH_CHARS) return `must have at most ${MAX_PATH_CHARS} characters`;
  const segments = path.split("/");
  if (segments.length > MAX_PATH_DEPTH) return `must have at most ${MAX_PATH_DEPTH} folders`;
  if (!segments.every((segment) => SEGMENT.test(segment)))
    return "must be a path inside the skill, such as scripts/check.sh: letters, digits, dots, dashes and underscores";
  return segments.map(faultOfParts).find((fault) => fault !== undefined);
}

export function faultOfSkillName(name: string): string | undefined {
  if (!SKILL_NAME.test(name))
    return "must be lower-case letters, digits and dashes, at most 64 characters";
  return faultOfParts(name);
}

function faultOfParts(name: string): string | undefined {
  if (name.includes("..") || name.endsWith("."))
    return "must not contain two dots in a row or end with a dot";
  return DEVICE.test(name) ? "is the name of a device on some systems; use another" : undefined;
}

/** Finds the first repeated name. Capitals make no difference, because some disks ignore them. */
export function findRepeatedName(names: readonly string[]): string | undefined {
  const seen = new Set<string>();
  for (const name of names) {
    const key = name.toLowerCase();
    if (seen.has(key)) return name;
    seen.add(key);
  }
  return undefined;
}

/** Finds a path that would have to be a file and a folder at once. */
export function findFileAsFolder(paths: readonly string[]): string | undefined {
  const files = new Set(paths.map((path) => path.toLowerCase()));
  return paths.find((path) => {
    const segments = path.toLowerCase().split("/");
    return segments.some((_, at) => at > 0 && files.has(segments.slice(0, at).join("/")));
  });
}

export function slugFrom(name: string): string {
  const plain = name
    .normalize("NFKD")
    .toLowerCase()
    .replaceAll(/\p{M}/gu, "")
    .replaceAll(/[^a-z0-9]+/g, "-")
    .slice(0, MAX_SLUG_CHARS)
    .replaceAll(/^-+|-+$/g, "");
  return plain === "" ? "persona" : plain;
}

/** Appends the first number that makes the slug free. */
export function freeSlug(wanted: string, isTaken: (slug: string) => boolean): string {
  for (let number = 2; ; number++) {
    const end = `-${number}`;
    const slug = `${wanted.slice(0, MAX_SLUG_CHARS - end.length).replace(/-+$/, "")}${end}`;
    if (!isTaken(slug)) return slug;
  }
}

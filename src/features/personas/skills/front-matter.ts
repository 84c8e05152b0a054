/**
 * Front matter of a SKILL.md: `key: value` lines between two `---`. Each value is read as YAML by
 * itself, because existing skills write texts such as `description: Use when: …`, which is not YAML; a
 * value that is not a YAML string is taken as it was written.
 */
import { CST, Parser } from "yaml";

export const SKILL_FILE = "SKILL.md";

/**
 * Maximum length of a value to parse.
 * The parser takes quadratic time on nested input, and no name or description is this long.
 */
const MAX_YAML_CHARS = 4_096;

export function readFrontMatter(text: string): Record<string, string> | undefined {
  const lines = text.replace(/^\ufeff/, "").split(/\r?\n/);
  const end = lines.indexOf("---", 1);
  if (lines[0] !== "---" || end < 0) return undefined;
  // Created without a prototype, so that `constructor` is a key like any other.
  const found: Record<string, string> = Object.create(null);
  let at = 1;
  while (at < end) {
    const match = /^([A-Za-z][\w-]*):(?:[ \t]+(.*))?$/.exec(lines[at] as string);
    at += 1;
    if (!match) continue;
    const [, key = "", first = ""] = match;
    const value = [first];
    while (at < end && /^(?:[ \t]|$)/.test(lines[at] as string)) value.push(lines[at++] as string);
    found[key] = readValue(value.join("\n").trim());
  }
  return found;
}

function readValue(source: string): string {
  const text = source.length <= MAX_YAML_CHARS ? readScalar(source) : undefined;
  return (text ?? asWritten(source)).trim();
}

/** Reads a scalar; undefined for lists, maps, anchors, aliases, tags and malformed text. */
function readScalar(source: string): string | undefined {
  const [document, ...more] = new Parser().parse(source);
  if (document?.type !== "document" || document.start.length > 0 || more.length > 0)
    return undefined;
  let isWellFormed = true;
  const scalar = CST.resolveAsScalar(document.value, true, () => {
    isWellFormed = false;
  });
  return isWellFormed ? scalar?.value : undefined;
}

function asWritten(source: string): string {
  return source.replaceAll(/\s+/g, " ").replace(/\s#.*$/, "");
}

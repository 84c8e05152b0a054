/** What a SKILL.md says of itself, in the lines before its text. Pure, and no more of YAML than that. */

export const SKILL_FILE = "SKILL.md";

/** Plain `key: value` lines between two `---`; quoted, folded (`>`) and literal (`|`) values too. */
export function readFrontMatter(text: string): Record<string, string> | undefined {
  const lines = text.replace(/^\ufeff/, "").split(/\r?\n/);
  const end = lines.indexOf("---", 1);
  if (lines[0] !== "---" || end < 0) return undefined;
  // Without a prototype, so that `constructor` is a key like any other.
  const found: Record<string, string> = Object.create(null);
  let at = 1;
  while (at < end) {
    const match = /^([A-Za-z][\w-]*):(?:[ \t]+(.*))?$/.exec(lines[at] as string);
    at += 1;
    if (!match) continue;
    const [, key = "", value = ""] = match;
    const indented: string[] = [];
    while (at < end && /^(?:[ \t]|$)/.test(lines[at] as string)) {
      indented.push((lines[at] as string).trim());
      at += 1;
    }
    found[key] = readValue(value.trim(), indented);
  }
  return found;
}

function readValue(value: string, indented: readonly string[]): string {
  if (/^\|[+-]?$/.test(value)) return indented.join("\n").trim();
  const rest = indented.join(" ").replaceAll(/\s+/g, " ").trim();
  if (/^>[+-]?$/.test(value)) return rest;
  return unquoted(`${value} ${rest}`.trim());
}

function unquoted(value: string): string {
  const double = /^"((?:[^"\\]|\\.)*)"$/.exec(value)?.[1];
  if (double !== undefined) return double.replaceAll(/\\(["\\])/g, "$1").trim();
  const single = /^'((?:[^']|'')*)'$/.exec(value)?.[1];
  return (single?.replaceAll("''", "'") ?? value.replace(/\s#.*$/, "")).trim();
}

// Tells code in a literal from words: class names, SQL, shell commands, patterns.

const SQL =
  /^\s*(select|update|delete|insert|create|alter|drop|with|pragma|begin|vacuum)\s.*\b(from|set|into|table|index|where|as|immediate|on)\b/is;
const CLASS = /^-?[@a-z][\w@:[\]/.%()!,#&>*=+-]*$/;
const CLASS_WORDS = /^(flex|grid|block|hidden|relative|absolute|truncate)$/;
const REQUEST = /^(GET|POST|PUT|PATCH|DELETE) \/|^HTTP\/|^Bearer |^[\w-]+: [\w-]+;|; Max-Age=/;
const SHELL = /^-{1,2}[a-z]|&&|\$\(|\$\d|2>|^(git|rm|chmod) -|^[a-z]+:x:\d/;
/** Control characters, HTML, functions and values of styles. */
const MARKUP = /\p{Cc}|^[<(]|=>|^\w+\(.*\)$|^(var|calc|rgb)\(/u;
const PATTERNS = [SQL, REQUEST, SHELL, MARKUP];

export function isCode(text: string): boolean {
  return (
    PATTERNS.some((pattern) => pattern.test(text)) || isClassNames(text) || hasLittleText(text)
  );
}

/** All parts look like Tailwind classes, and one in two has their punctuation. */
function isClassNames(text: string): boolean {
  const parts = text.trim().split(/\s+/);
  if (!parts.every((part) => CLASS.test(part))) return false;
  const marked = parts.filter((part) => /[-:[]./.test(part) || CLASS_WORDS.test(part));
  return marked.length * 2 >= parts.length;
}

/** Fewer letters than other characters: a format or a pattern. */
function hasLittleText(text: string): boolean {
  const letters = text.match(/\p{L}/gu)?.length ?? 0;
  return letters * 2 < text.replaceAll(/\s|\{[^}]*\}/g, "").length;
}

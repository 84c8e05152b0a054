/**
 * Makes foreign text safe to look at. `reveal` and `spellOut` are for text that a person decides
 * about: every character that draws nothing, or changes how its neighbours are drawn, is named.
 * `terminalText` and `terminalJson` are for all other output: no control character reaches a
 * terminal. The results are for display only; the original is what is executed. Pure, and safe for
 * browsers.
 */

/**
 * A segment of a revealed text: characters to draw as they are, or the name of an invisible one.
 */
export type VisibleSegment = { text: string } | { name: string; code: string };

const PLAIN = /^[\x20-\x7e\n\t]*$/;

/**
 * Symbols and letters that fonts draw as empty space, though Unicode calls them neither spaces nor
 * ignorable: the Braille blank, the object replacement, the null notehead, hieroglyph blanks, joiners.
 */
const BLANK = "\\u2800\\ufffc\\u2d7f\\u{1107f}\\u{13441}\\u{13442}\\u{16fe4}\\u{1d159}";

/** More marks on one letter are named: no script needs them, and stacks cover other rows. */
const MAX_MARKS = 6;

/** Signs after which Indic scripts use a joiner with a visible effect. */
const VIRAMA = "\\u094d\\u09cd\\u0a4d\\u0acd\\u0b4d\\u0bcd\\u0c4d\\u0ccd\\u0d4d\\u0dca";

/** Legitimate uses of characters that are hidden elsewhere; matched first. */
const LEGITIMATE = [
  // Emoji that Unicode recommends, with the joiners, variation selectors and tags they are made of.
  "\\p{RGI_Emoji}",
  // The non-joiner between Arabic letters, as Persian writes it.
  "(?<=[\\p{Script=Arabic}&&\\p{L}]\\p{M}{0,3})\\u200c(?=[\\p{Script=Arabic}&&\\p{L}])",
  `(?<=[${VIRAMA}])[\\u200c\\u200d](?=\\p{L})`,
].join("|");

const HIDDEN = [
  `[[\\p{C}\\p{Z}\\p{Default_Ignorable_Code_Point}${BLANK}]--[ \\n\\t]]`,
  `(?<=\\p{M}{${MAX_MARKS}})\\p{M}`,
  // A mark without a letter of its own would be drawn onto the text before it.
  "(?<![\\p{L}\\p{M}\\p{N}\\p{P}\\p{S}])\\p{M}",
].join("|");

const SUSPECT = new RegExp(`(${LEGITIMATE})|${HIDDEN}`, "gv");

const NAMES: Record<string, string> = {
  "\0": "NUL",
  "\b": "BS",
  "\r": "CR",
  "\u001b": "ESC",
  "\u007f": "DEL",
};

/** Splits a text into visible segments and the names of invisible characters. */
export function reveal(text: string): VisibleSegment[] {
  if (PLAIN.test(text)) return text === "" ? [] : [{ text }];
  const finds = [...hiddenIn(text), ...foreignHostsIn(text)].sort((a, b) => a.from - b.from);
  const pieces: VisibleSegment[] = [];
  let from = 0;
  for (const find of finds) {
    if (find.from > from) pieces.push({ text: text.slice(from, find.from) });
    pieces.push({ name: find.name, code: find.code });
    from = Math.max(from, find.to);
  }
  if (from < text.length) pieces.push({ text: text.slice(from) });
  return pieces;
}

/** Like `reveal`, as one string: `a<U+202E>b`. */
export function spellOut(text: string): string {
  if (PLAIN.test(text)) return text;
  return reveal(text)
    .map((piece) => ("text" in piece ? piece.text : `<${piece.code}>`))
    .join("");
}

interface HiddenSpan {
  from: number;
  to: number;
  name: string;
  code: string;
}

function hiddenIn(text: string): HiddenSpan[] {
  const finds: HiddenSpan[] = [];
  for (const match of text.matchAll(SUSPECT)) {
    const [char, legitimate] = match;
    if (legitimate !== undefined) continue;
    const code = codeOf(char);
    finds.push({
      from: match.index,
      to: match.index + char.length,
      name: NAMES[char] ?? code,
      code,
    });
  }
  return finds;
}

function codeOf(char: string): string {
  return `U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}

const LABEL = "[\\p{L}\\p{N}\\p{M}_\\-]{1,63}";
/** Host names by position (after `//` or `@`), and anything that looks like one. */
const HOSTS = new RegExp(
  `(?<=//(?:[^\\s\\/@]{0,80}@)?|@)[^\\s\\/?#\\\\"'<>\`\\|@:]{1,253}|(?<![\\p{L}\\p{N}\\p{M}_\\-])${LABEL}(?:[.。．｡]${LABEL}){1,8}`,
  "gv",
);
const ASCII = /^[\x20-\x7e]*$/;

/**
 * Finds host names that may imitate another one; each is followed by the name that DNS is asked
 * for.
 */
function foreignHostsIn(text: string): HiddenSpan[] {
  const finds: HiddenSpan[] = [];
  for (const { 0: host, index } of text.matchAll(HOSTS)) {
    if (ASCII.test(host)) continue;
    const isAddressed = text[index - 1] === "@" || text.startsWith("//", index - 2);
    if (!isAddressed && !host.split(/[.。．｡]/).some(isConfusable)) continue;
    const name = asciiHost(host);
    const end = index + host.length;
    if (name !== undefined) finds.push({ from: end, to: end, name, code: name });
  }
  return finds;
}

const LATIN = /\p{Script=Latin}/u;
/** Letters of another alphabet, except those commonly written together with Latin. */
const OTHER =
  /[^\P{L}\p{Script=Latin}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Bopomofo}]/u;
/** Cyrillic and Greek letters that look like Latin ones. */
const LOOK_ALIKES = /^[\p{N}\-асеорхуіјѕһԁӏԛԝѵкмтвньαοικνρτυχεωηγ]+$/iu;

function isConfusable(label: string): boolean {
  if (ASCII.test(label)) return false;
  if (label.normalize("NFKC") !== label.normalize("NFC")) return true;
  return (LATIN.test(label) && OTHER.test(label)) || LOOK_ALIKES.test(label);
}

function asciiHost(host: string): string | undefined {
  try {
    return new URL(`http://${host}/`).hostname;
  } catch {
    // Nobody can connect to it, so it cannot deceive.
    return undefined;
  }
}

// Control characters, and those that change the direction of text or begin an invisible line.
const COMMANDS = /[[\p{Cc}\p{Cs}\p{Bidi_Control}\u2028\u2029]--[\n\t]]/gv;

/**
 * Makes text safe for a terminal: no control sequences remain. Line ends of other systems become
 * ours.
 */
export function terminalText(text: string): string {
  if (PLAIN.test(text)) return text;
  return text.replaceAll("\r\n", "\n").replaceAll(COMMANDS, (char) => `<${codeOf(char)}>`);
}

// In JSON these occur in strings only, where an escape means the same.
const RAW_IN_JSON = /[[\p{Cc}\p{Cf}\u2028\u2029]--[\n]]/gv;

/** Escapes everything in JSON that a terminal could act upon; its meaning stays the same. */
export function terminalJson(json: string): string {
  if (PLAIN.test(json)) return json;
  return json.replaceAll(RAW_IN_JSON, (char) =>
    char
      .split("")
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
      .join(""),
  );
}

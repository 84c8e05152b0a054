/** Text that both databases store alike: NUL and lone surrogates become U+FFFD. */
export function cleanText(text: string): string {
  const wellFormed = text.isWellFormed() ? text : text.toWellFormed();
  return wellFormed.includes("\u0000") ? wellFormed.replaceAll("\u0000", "\ufffd") : wellFormed;
}

/** JSON for a text column, with every string in it cleaned. */
export function cleanJson(value: unknown): string {
  const text = JSON.stringify(value) ?? "null";
  // JSON.stringify writes NUL and lone surrogates as escapes, so their marks can be seen without walking the value.
  if (!text.includes("\\u")) return text;
  return (
    JSON.stringify(value, (_name, item) => (typeof item === "string" ? cleanText(item) : item)) ??
    "null"
  );
}

/** Somebody else's words inside words of ours: no line of them can pass for one of ours. */
export function quoteLines(text: string): string {
  return text
    .split(/\r\n|[\n\r\v\f\u0085\u2028\u2029]/)
    .map((line) => `> ${line}`)
    .join("\n");
}

/** Counts the characters a value brings to its JSON, near enough to bound memory and work. */
export function roughSize(value: unknown): number {
  if (typeof value === "string") return value.length + 2;
  if (typeof value !== "object" || value === null) return 8;
  let size = 2;
  for (const key in value)
    size += key.length + 4 + roughSize((value as Record<string, unknown>)[key]);
  return size;
}

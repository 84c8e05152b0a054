/** Counts the characters that a value adds to its JSON, closely enough to bound memory and work. */
export function roughSize(value: unknown): number {
  if (typeof value === "string") return value.length + 2;
  if (typeof value !== "object" || value === null) return 8;
  let size = 2;
  for (const key in value)
    size += key.length + 4 + roughSize((value as Record<string, unknown>)[key]);
  return size;
}

/** Cuts a list into pieces of at most so many items and characters; a larger item is a piece alone. */
export function cutBySize<T>(items: readonly T[], most: { items: number; chars: number }): T[][] {
  const pieces: T[][] = [];
  let piece: T[] = [];
  let chars = 0;
  for (const item of items) {
    const size = roughSize(item);
    if (piece.length > 0 && (piece.length === most.items || chars + size > most.chars)) {
      pieces.push(piece);
      piece = [];
      chars = 0;
    }
    piece.push(item);
    chars += size;
  }
  if (piece.length > 0) pieces.push(piece);
  return pieces;
}

/** Parser of an option that may be repeated, with one value each: it never takes the arguments behind it. */
export function repeatable(value: string, before: string[] | undefined): string[] {
  return [...(before ?? []), value];
}

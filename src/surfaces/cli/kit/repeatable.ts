/** For an option that may be said several times, with one value each: it never swallows what follows. */
export function repeatable(value: string, before: string[] | undefined): string[] {
  return [...(before ?? []), value];
}

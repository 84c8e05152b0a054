/**
 * Pads a list for a statement to one of few lengths by repeating its last item: the text of every
 * statement is cached, and there would be one for each length. Pure.
 */
export function padded<T>(list: readonly T[]): T[] {
  const last = list.at(-1);
  if (last === undefined) return [];
  const length = 2 ** Math.ceil(Math.log2(list.length));
  return [...list, ...Array.from({ length: length - list.length }, () => last)];
}

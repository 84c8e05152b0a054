/**
 * Lists in statements, brought to few lengths by repeating the last: the text of every statement is
 * kept, and there would be one for each length. Pure.
 */
export function padded<T>(list: readonly T[]): T[] {
  const last = list.at(-1);
  if (last === undefined) return [];
  const length = 2 ** Math.ceil(Math.log2(list.length));
  return [...list, ...Array.from({ length: length - list.length }, () => last)];
}

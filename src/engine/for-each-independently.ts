/**
 * Runs a sweep's items independently: a failing item does not block the others; the first failure
 * is thrown at the end.
 */
export async function forEachIndependently<T>(
  items: readonly T[],
  act: (item: T) => Promise<unknown>,
): Promise<void> {
  const failures: unknown[] = [];
  for (const item of items) {
    try {
      await act(item);
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}

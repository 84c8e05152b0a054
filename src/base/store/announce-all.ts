/** What is told after a commit cannot undo it: one that fails is reported, and the others are told. */
export function announceAll(announcements: readonly (() => void)[]): void {
  for (const announce of announcements) {
    try {
      announce();
    } catch (error) {
      process.emitWarning(error instanceof Error ? error : String(error));
    }
  }
}

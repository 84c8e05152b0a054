/**
 * Time for actions that cannot be undone. A wall clock that jumps ahead, such as that of a machine
 * resumed with a wrong one, is believed when it has stayed there for an hour. Until then time goes
 * on from where it was before the jump. A clock that is set back is believed at once.
 */
import type { Clock } from "#base/clock.ts";

const JUMP_MS = 60_000;
const BELIEVED_AFTER_MS = 60 * 60_000;

export function createTrustedTime(clock: Clock): () => number {
  const steady = () => clock.steady?.() ?? clock.now();
  /** Time of the wall clock when the steady one shows zero. */
  let believed = clock.now() - steady();
  let doubted: { offset: number; since: number } | undefined;
  return () => {
    const instant = steady();
    const offset = clock.now() - instant;
    if (doubted && Math.abs(offset - doubted.offset) > JUMP_MS) doubted = undefined;
    if (offset > believed + JUMP_MS) {
      doubted ??= { offset, since: instant };
      if (instant - doubted.since < BELIEVED_AFTER_MS) return instant + believed;
    }
    believed = offset;
    doubted = undefined;
    return instant + believed;
  };
}

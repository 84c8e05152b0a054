import type { Ids } from "#base/ids.ts";
import type { Random } from "#test/random.ts";

const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";

/** Like real ids: sortable by time, in no order within one instant. */
export function createSimIds(now: () => number, random: Random): Ids {
  let minted = 0;
  return {
    mint(prefix) {
      minted += 1;
      const time = now().toString(32).padStart(10, "0");
      const mark = ALPHABET[random.between(0, 31)];
      return `${prefix}_${time}${mark}${minted.toString(32).padStart(7, "0")}`;
    },
  };
}

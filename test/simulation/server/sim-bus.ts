/** A bus that keeps none of its soft promises: hints come late, twice, out of order, or never. */
import type { Bus, BusHandler } from "#base/bus/bus.ts";
import type { World } from "../world.ts";

const LATE_MS = 3_000;

export function createSimBus(world: World, isUp: () => boolean): Bus {
  const { random, scheduler, odds } = world;
  const topics = new Map<string, Set<BusHandler>>();
  return {
    publish(topic, message) {
      if (!topics.has(topic)) return;
      if (!world.calm && random.chance(odds.busDrops)) return;
      const copies = !world.calm && random.chance(odds.busRepeats) ? 2 : 1;
      for (let copy = 0; copy < copies; copy++) {
        scheduler.after(world.calm ? 1 : random.skewed(0, LATE_MS), () => {
          if (!isUp()) return;
          for (const handler of [...(topics.get(topic) ?? [])]) handler(message);
        });
      }
    },
    subscribe(topic, handler) {
      const handlers = topics.get(topic) ?? new Set();
      topics.set(topic, handlers.add(handler));
      return () => handlers.delete(handler);
    },
    async close() {
      topics.clear();
    },
  };
}

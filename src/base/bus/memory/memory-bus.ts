/** The bus of a single process: `publish` calls the handlers directly. */
import type { Log } from "#base/log.ts";
import type { Bus, BusHandler } from "../bus.ts";

export function createMemoryBus(log: Log): Bus {
  const topics = new Map<string, Set<BusHandler>>();
  return {
    publish(topic, message) {
      const handlers = topics.get(topic);
      if (!handlers) return;
      for (const handler of [...handlers]) {
        try {
          handler(message);
        } catch (error) {
          log.error({ err: error, topic }, "a bus handler threw");
        }
      }
    },
    subscribe(topic, handler) {
      const handlers = topics.get(topic) ?? new Set();
      topics.set(topic, handlers.add(handler));
      return () => {
        handlers.delete(handler);
        if (handlers.size === 0 && topics.get(topic) === handlers) topics.delete(topic);
      };
    },
    async close() {
      topics.clear();
    },
  };
}

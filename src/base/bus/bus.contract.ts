/** The contract of every bus. Each implementation runs this suite. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Bus } from "./bus.ts";

export function busContract(name: string, open: () => Promise<Bus>): void {
  describe(`bus contract: ${name}`, () => {
    let bus: Bus;
    beforeEach(async () => {
      bus = await open();
    });
    afterEach(() => bus.close());

    it("carries messages to everyone who listens, in order", async () => {
      const heard: unknown[][] = [[], []];
      for (const list of heard) bus.subscribe("topic", (message) => list.push(message.n));
      for (let n = 0; n < 10; n++) bus.publish("topic", { n });
      const all = Array.from({ length: 10 }, (_, n) => n);
      await vi.waitFor(() => expect(heard).toEqual([all, all]));
    });

    it("keeps topics apart", async () => {
      const heard: unknown[] = [];
      bus.subscribe("a", (message) => heard.push(message.from));
      bus.publish("b", { from: "b" });
      bus.publish("a", { from: "a" });
      await vi.waitFor(() => expect(heard).toEqual(["a"]));
    });

    it("stops when told, also from inside a handler", async () => {
      const heard: unknown[] = [];
      const leave = bus.subscribe("topic", (message) => {
        heard.push(message.n);
        leave();
      });
      const others: unknown[] = [];
      bus.subscribe("topic", (message) => others.push(message.n));
      bus.publish("topic", { n: 1 });
      await vi.waitFor(() => expect(others).toEqual([1]));
      bus.publish("topic", { n: 2 });
      await vi.waitFor(() => expect(others).toEqual([1, 2]));
      expect(heard).toEqual([1]);
    });

    it("survives a handler that throws", async () => {
      const heard: unknown[] = [];
      bus.subscribe("topic", () => {
        throw new Error("no");
      });
      bus.subscribe("topic", (message) => heard.push(message.n));
      bus.publish("topic", { n: 1 });
      await vi.waitFor(() => expect(heard).toEqual([1]));
    });

    it("takes what nobody listens to", () => {
      expect(() => bus.publish("nobody", { n: 1 })).not.toThrow();
    });
  });
}

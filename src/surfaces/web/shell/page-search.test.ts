import { describe, expect, it } from "vitest";
import { dropForeign, keepOwn } from "./page-search.ts";

/** Runs the steps from the frame to the page, as the router does. */
function follow(search: object, steps: readonly ((step: never) => object)[]): object {
  const [first, ...rest] = steps;
  if (first === undefined) return search;
  return first({ search, next: (handed: object) => follow(handed, rest) } as never);
}

describe("the search of the address", () => {
  const frame = dropForeign(["box", "for"]);
  const search = { view: "all", box: "sent", for: "otters" };

  it("keeps what belongs to the page one goes to", () => {
    expect(follow(search, [frame, keepOwn(["box"])])).toEqual({ view: "all", box: "sent" });
    expect(follow(search, [frame, keepOwn(["for"])])).toEqual({ view: "all", for: "otters" });
  });

  it("leaves behind what belongs to another, and keeps what is everybody's", () => {
    expect(follow(search, [frame])).toEqual({ view: "all" });
  });
});

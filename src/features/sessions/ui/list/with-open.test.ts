import { expect, it } from "vitest";
import type { Session } from "#protocol/sessions.ts";
import { openApart } from "./with-open.ts";

const session = (id: string, fields: Partial<Session> = {}) =>
  ({ id, ownerId: "usr_1", isOrchestrator: false, ...fields }) as Session;

it("keeps the open session above a filtered list that does not have it", () => {
  const open = session("open");
  const list = [session("a"), session("b")];
  expect(openApart(list, open, "usr_1")).toBe(open);
  expect(openApart([], open, "usr_1")).toBe(open);
  expect(openApart([...list, open], open, "usr_1")).toBeUndefined();
  expect(openApart(list, undefined, "usr_1")).toBeUndefined();
});

it("leaves out an orchestrator, which has a page of its own, and what an admin opened", () => {
  expect(openApart([], session("o", { isOrchestrator: true }), "usr_1")).toBeUndefined();
  expect(openApart([], session("x", { ownerId: "usr_2" }), "usr_1")).toBeUndefined();
});

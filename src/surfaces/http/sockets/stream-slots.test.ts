import { describe, expect, it } from "vitest";
import { Refusal } from "#base/refusal.ts";
import type { Caller } from "../guards/callers.ts";
import { type StreamKind, StreamSlots } from "./stream-slots.ts";

const callerOf = (userId: string, credentialId: string, kind = "session"): Caller => ({
  principal: {
    ...{ kind: "user", orgId: "org_1", userId, name: userId },
    ...{ role: "member", scopes: ["*"], channel: "web" },
  },
  credentialId,
  kind,
});

/** Takes slots until it is refused. */
function fill(slots: StreamSlots, kind: StreamKind, caller: Caller) {
  const leaves: (() => void)[] = [];
  for (;;) {
    try {
      leaves.push(slots.enter(kind, caller));
    } catch (error) {
      return { leaves, refusal: error as Refusal };
    }
  }
}

describe("places for what stays open", () => {
  it.each([
    ["live", 128],
    ["events", 128],
    ["wait", 64],
    ["runner", 64],
  ] as const)("of the kind %s: %i for a credential", (kind, most) => {
    const slots = new StreamSlots();
    const { leaves, refusal } = fill(slots, kind, callerOf("usr_a", "key_1"));
    expect(leaves).toHaveLength(most);
    expect(slots.totals[kind]).toBe(most);
    expect(refusal).toBeInstanceOf(Refusal);
    expect(refusal).toMatchObject({ code: "too_many_streams", retryAfterMs: 5_000 });
  });

  it("are counted for the person too, whatever they come with", () => {
    const slots = new StreamSlots();
    fill(slots, "live", callerOf("usr_a", "key_1"));
    fill(slots, "live", callerOf("usr_a", "key_2"));
    expect(fill(slots, "live", callerOf("usr_a", "key_3")).leaves).toHaveLength(0);
    expect(fill(slots, "events", callerOf("usr_a", "key_3")).leaves).toHaveLength(128);
    expect(fill(slots, "live", callerOf("usr_b", "key_4")).leaves).toHaveLength(128);
  });

  it("are counted for the person behind a machine, but not for machines of the organisation", () => {
    const machine = (credentialId: string, scope: string): Caller => ({
      principal: {
        ...{ kind: "runner", orgId: "org_1", credentialId, scope, tags: [], name: "m" },
      },
      credentialId,
      kind: "runner",
    });
    const slots = new StreamSlots();
    const taken = ["t1", "t2", "t3"].map((id) => fill(slots, "runner", machine(id, "user:usr_a")));
    expect(taken.map(({ leaves }) => leaves.length)).toEqual([64, 64, 0]);
    const org = ["t4", "t5", "t6"].map((id) => fill(slots, "runner", machine(id, "org")));
    expect(org.map(({ leaves }) => leaves.length)).toEqual([64, 64, 64]);
  });

  it("are given back once, and can be taken again", () => {
    const slots = new StreamSlots();
    const caller = callerOf("usr_a", "key_1");
    const { leaves } = fill(slots, "wait", caller);
    leaves[0]?.();
    leaves[0]?.();
    expect(slots.totals.wait).toBe(63);
    expect(fill(slots, "wait", caller).leaves).toHaveLength(1);
    for (const leave of leaves.slice(1)) leave();
    expect(slots.totals.wait).toBe(1);
  });
});

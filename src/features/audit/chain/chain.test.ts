import { describe, expect, it } from "vitest";
import type { AuditRow } from "../schema.ts";
import { brokenLink, CHAIN_START, hashOf, sealRows } from "./chain.ts";

const row = (id: string): AuditRow => ({
  id,
  org_id: "org_1",
  at: 1,
  category: "tool",
  action: "tool_executed",
  severity: "info",
  session_id: "ses_1",
  user_id: null,
  run_id: null,
  metadata: "{}",
  seq: null,
  prev_hash: null,
  hash: null,
});
const start = { seq: 0, hash: CHAIN_START };

describe("the chain", () => {
  it("is the same for the same rows, whatever the order of their columns", () => {
    const { id, ...rest } = row("aud_1");
    expect(hashOf("", { ...rest, id })).toBe(hashOf("", row("aud_1")));
    // This hash must never change: existing rows were sealed with it.
    expect(hashOf("", { ...row("aud_1"), seq: 1 })).toBe(
      "40733d22cea0afca0240e422d443fe70ff822776f3d089d622725347c63f6454",
    );
  });

  it("continues where it ended", () => {
    const rows = ["a", "b", "c"].map(row);
    const whole = sealRows(start, rows);
    const first = sealRows(start, rows.slice(0, 1));
    const rest = sealRows(first.head, rows.slice(1));
    expect([...first.seals, ...rest.seals]).toEqual(whole.seals);
    expect(rest.head).toEqual(whole.head);
    let head = start;
    for (const [at, seal] of whole.seals.entries()) {
      expect(brokenLink(head, { ...(rows[at] as AuditRow), ...seal })).toBeUndefined();
      head = seal;
    }
  });

  it("says what is wrong with a row", () => {
    const { seals } = sealRows(start, [row("a"), row("b")]);
    const [first, second] = seals.map((seal) => ({ ...row(seal.id), ...seal }));
    expect(brokenLink(start, second as AuditRow)?.why).toContain("missing");
    expect(brokenLink(start, { ...(first as AuditRow), prev_hash: "x" })?.why).toContain("follow");
    expect(brokenLink(start, { ...(first as AuditRow), at: 2 })?.why).toContain("changed");
  });
});

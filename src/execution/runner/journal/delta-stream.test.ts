import { describe, expect, it } from "vitest";
import { FakeClock } from "#base/clock.ts";
import type { Delta } from "#protocol/events.ts";
import { DeltaStream } from "./delta-stream.ts";

type Sent = Omit<Delta, "thread">;

function stream() {
  const sent: Sent[] = [];
  const clock = new FakeClock();
  return { sent, deltas: new DeltaStream((delta) => sent.push(delta) > 0, clock) };
}

describe("a tool call that is being written", () => {
  const call = { entryId: "ent_1", kind: "tool_call" } as const;

  it("shows the name of its tool at once, and with every piece of its arguments", () => {
    const { sent, deltas } = stream();
    deltas.push({ ...call, toolName: "bash", text: "" });
    deltas.push({ ...call, toolName: "bash", text: "" });
    expect(sent).toEqual([{ ...call, toolName: "bash", offset: 0, text: "" }]);
    deltas.push({ ...call, toolName: "bash", text: '{"command"' });
    deltas.resendWhole(Number.POSITIVE_INFINITY);
    expect(sent.at(-1)).toEqual({ ...call, toolName: "bash", offset: 0, text: '{"command"' });
  });

  it("takes another name when the model was asked again", () => {
    const { sent, deltas } = stream();
    deltas.push({ ...call, toolName: "bash", text: "{" });
    deltas.retract(call.entryId);
    deltas.push({ ...call, toolName: "read", text: "" });
    deltas.resendWhole(Number.POSITIVE_INFINITY);
    expect(sent.at(-1)).toMatchObject({ toolName: "read", text: "" });
  });

  it("cuts a name that no tool can have", () => {
    const { sent, deltas } = stream();
    deltas.push({ ...call, toolName: "x".repeat(5_000), text: "" });
    expect(sent[0]?.toolName).toHaveLength(200);
  });
});

it("drops empty pieces of text", () => {
  const { sent, deltas } = stream();
  deltas.push({ entryId: "ent_1", kind: "text", text: "" });
  expect(sent).toEqual([]);
});

import { describe, expect, it } from "vitest";
import { ACTION_ALIASES, AUDIT_ACTIONS } from "./contract.ts";
import { ACTIONS_OF } from "./orchestrator-events.ts";

describe("the events of an agent's loop", () => {
  it.each([
    ["message_start", ["message_received"]],
    ["tool_call", ["tool_executed", "tool_denied"]],
    ["tool_result", ["tool_executed"]],
    ["message_complete", ["message_complete"]],
    ["error", ["message_error"]],
  ] as const)("%s is %s", (event, actions) => {
    expect(ACTIONS_OF[event]).toEqual(actions);
  });

  it("are all there, each with actions the trail has", () => {
    expect(Object.keys(ACTIONS_OF).toSorted()).toEqual([...ACTION_ALIASES].toSorted());
    for (const actions of Object.values(ACTIONS_OF))
      for (const action of actions) expect(AUDIT_ACTIONS).toContain(action);
  });
});

/** Permission requests of an agent: the question goes to the server, the decision back to the agent. */
import type { PermissionOption, RequestPermissionResponse } from "@agentclientprotocol/sdk";
import type { Turn } from "#execution/runtimes/runtime.ts";

export const DECISIONS = ["allow_once", "allow_always", "reject_once", "reject_always"] as const;
export type Decision = (typeof DECISIONS)[number];

export interface PermissionQuestion {
  callId: string;
  tool: string;
  title: string;
  kind: string | null;
  input: unknown;
  /** Decisions that the agent offers to choose from. */
  decisions: Decision[];
}

export type AskPermission = (question: PermissionQuestion, turn: Turn) => Promise<Decision>;

/** Asks the server, as a tool call like any other. Anything but a clear yes is a denial. */
export const askServer: AskPermission = async (question, turn) => {
  const { output, error } = await turn.callTool(
    `permission:${question.callId}`,
    "request_permission",
    question,
  );
  const decision = (output as { decision?: unknown } | null)?.decision;
  return error === null && isDecision(decision) ? decision : "reject_once";
};

/** Option of the agent for a decision; the milder one of the same kind when the agent lacks it. */
export function answerWith(
  decision: Decision,
  options: readonly PermissionOption[],
): RequestPermissionResponse {
  const wanted: Decision[] = decision.startsWith("allow")
    ? [decision, "allow_once"]
    : [decision, "reject_once", "reject_always"];
  for (const kind of wanted) {
    const option = options.find((one) => one.kind === kind);
    if (option) return { outcome: { outcome: "selected", optionId: option.optionId } };
  }
  return { outcome: { outcome: "cancelled" } };
}

function isDecision(value: unknown): value is Decision {
  return DECISIONS.includes(value as Decision);
}

/**
 * Makes one request to the model: its text is shown as it comes, and returned whole at the end. A
 * repeated request retracts what was shown.
 */
import type {
  ModelFailure,
  ModelProvider,
  ModelRequest,
  ModelResponse,
} from "#execution/models/model.ts";
import type { Turn } from "../runtime.ts";

export type ModelReply =
  /** `entryIds`: entries of the parts of the response, as their pieces were shown. */
  | { kind: "answered"; response: ModelResponse; entryIds: string[] }
  | { kind: "failed"; failure: ModelFailure }
  /** Given up because the request's signal aborted, after this much was shown. */
  | { kind: "cut"; shown: ShownText[] };

export interface ShownText {
  entryId: string;
  kind: "text" | "reasoning";
  text: string;
}

export async function askModel(
  turn: Turn,
  provider: ModelProvider,
  request: ModelRequest,
): Promise<ModelReply> {
  const entryIds: string[] = [];
  let shown: ShownText[] = [];
  const entryOf = (part: number) => {
    entryIds[part] ??= turn.entryId();
    return entryIds[part];
  };
  const show = (part: number, kind: ShownText["kind"], text: string) => {
    const entryId = entryOf(part);
    turn.delta({ entryId, kind, text });
    const last = shown.at(-1);
    if (last?.entryId === entryId) last.text += text;
    else shown.push({ entryId, kind, text });
  };
  for await (const event of provider.stream(request)) {
    if (request.signal.aborted) break;
    switch (event.type) {
      case "text":
      case "reasoning":
        show(event.part, event.type, event.text);
        break;
      case "tool_input":
        turn.delta({
          entryId: entryOf(event.part),
          kind: "tool_call",
          toolName: event.tool,
          text: event.text,
        });
        break;
      case "restart":
        shown = [];
        for (const entryId of entryIds) if (entryId !== undefined) turn.retract(entryId);
        turn.log.info(
          { code: event.failure.code, attempt: event.attempt, delayMs: event.delayMs },
          "the model is asked again",
        );
        break;
      case "end":
        return {
          kind: "answered",
          response: event.response,
          entryIds: event.response.parts.map((_part, index) => entryOf(index)),
        };
      case "failed":
        return { kind: "failed", failure: event.failure };
    }
  }
  if (request.signal.aborted) return { kind: "cut", shown };
  return {
    kind: "failed",
    failure: {
      code: "model_stream_broken",
      message: "The model's answer ended without text. Send the prompt again.",
      retryable: true,
    },
  };
}

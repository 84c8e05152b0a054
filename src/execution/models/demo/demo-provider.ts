/**
 * The built-in model: needs no key and no network, and plays a script with real tool calls. The
 * same conversation always gets the same answer.
 */
import { createHash } from "node:crypto";
import { type Clock, systemClock } from "#base/clock.ts";
import type {
  ModelEvent,
  ModelProvider,
  ModelRequest,
  ModelResponse,
  ModelUsage,
  RawToolCall,
} from "../model.ts";
import { readScene, type Scene, type Script, type Step } from "./script.ts";
import { scripts as allScripts } from "./scripts/index.ts";

export const DEMO_MODEL = "story";

export const INTRODUCTION =
  "I am Muster's built-in demo model, which follows a script. To add a real one, set ANTHROPIC_API_KEY or OPENAI_API_KEY, or run Ollama, then restart; or add a model in settings.";

const CHUNK_DELAY_MS = 15;
const INPUT_CHUNK_CHARS = 120;

export interface DemoOptions {
  /** Delay between two pieces of an answer; 0 for none. */
  delayMs?: number;
  clock?: Clock;
  scripts?: readonly Script[];
}

export function createDemoProvider(options: DemoOptions = {}): ModelProvider {
  const { delayMs = CHUNK_DELAY_MS, clock = systemClock, scripts = allScripts } = options;
  return {
    name: "demo",
    async *stream(request) {
      const response = compose(request, scripts);
      for (const event of eventsOf(response)) {
        if (delayMs > 0) await clock.sleep(delayMs, request.signal);
        if (request.signal.aborted) {
          const failure = {
            code: "model_aborted",
            message: "The request was stopped.",
            retryable: false,
          };
          yield { type: "failed", failure };
          return;
        }
        yield event;
      }
      yield { type: "end", response };
    },
  };
}

function compose(request: ModelRequest, scripts: readonly Script[]): ModelResponse {
  const scene = readScene(request);
  const { say, calls, isForThePerson = true } = nextStep(scene, scripts);
  const introduction = scene.isFirstAnswer && isForThePerson ? INTRODUCTION : "";
  const text = [introduction, say].filter(Boolean).join("\n\n");
  const parts: ModelResponse["parts"] = text === "" ? [] : [{ type: "text", text }];
  calls.forEach(({ tool, input }, index) => {
    parts.push({
      type: "tool_call",
      callId: callIdOf(request, scene, index),
      tool,
      inputText: JSON.stringify(input),
    });
  });
  return {
    parts,
    stopReason: calls.length > 0 ? "tool_calls" : "end",
    usage: usageOf(request, parts),
  };
}

function nextStep(scene: Scene, scripts: readonly Script[]): Step {
  const script = scripts.find(({ fits }) => fits(scene));
  return script?.next(scene) ?? { say: "I have nothing to show for this.", calls: [] };
}

function* eventsOf({ parts }: ModelResponse): Generator<ModelEvent> {
  for (const [part, { type, ...fields }] of parts.entries()) {
    if (type === "tool_call") {
      const { tool, inputText } = fields as RawToolCall;
      for (let at = 0; at < inputText.length; at += INPUT_CHUNK_CHARS) {
        yield { type: "tool_input", part, tool, text: inputText.slice(at, at + INPUT_CHUNK_CHARS) };
      }
    } else {
      const { text } = fields as { text: string };
      for (const [word] of text.matchAll(/\s*\S+(?:\s+$)?/g)) yield { type, part, text: word };
    }
  }
}

/** Call id, the same for the same place in the conversation, and unique to it. */
function callIdOf({ cacheKey, messages }: ModelRequest, { said }: Scene, index: number): string {
  const place = JSON.stringify([cacheKey, messages.length, said, index]);
  return `demo_${createHash("sha256").update(place).digest("hex").slice(0, 20)}`;
}

/** Counts words as the demo's tokens. */
function usageOf({ system, messages }: ModelRequest, parts: ModelResponse["parts"]): ModelUsage {
  const count = (value: unknown) => JSON.stringify(value).match(/\w+/g)?.length ?? 0;
  return {
    inputTokens: count(system) + count(messages),
    cachedInputTokens: 0,
    outputTokens: count(
      parts.map((part) => (part.type === "tool_call" ? part.inputText : part.text)),
    ),
    reasoningTokens: 0,
  };
}

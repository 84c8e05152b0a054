/**
 * Muster's own agent. The loop runs here, in the runner, and so do the models' keys; only what the
 * agent's tools do happens in a sandbox.
 */
import type { Clock } from "#base/clock.ts";
import { Refusal } from "#base/refusal.ts";
import type { ModelProvider } from "#execution/models/model.ts";
import { priceOf } from "#execution/models/prices.ts";
import type { Models } from "#execution/models/registry.ts";
import { withRetries } from "#execution/models/retry.ts";
import type { Redactor } from "#execution/tools/redact.ts";
import type { RunnerTools } from "#execution/tools/tool.ts";
import type { Workspaces } from "#execution/workspaces/workspace.ts";
import type { Blob, Runtime, Turn, TurnEnd, TurnOver } from "../runtime.ts";
import { Conversation } from "./conversation.ts";
import { type Earlier, loadEarlier, tooMany } from "./earlier.ts";
import { TurnBounds } from "./limits.ts";
import { sumUp } from "./sum-up.ts";
import { systemPrompt } from "./system-prompt.ts";
import { TurnLoop } from "./turn-loop.ts";
import { TurnWorkspace } from "./turn-workspace.ts";

export interface NativeOptions {
  models: Models;
  tools: RunnerTools;
  workspaces: Workspaces;
  redact: Redactor;
  clock: Clock;
  random?: () => number;
}

interface Chosen {
  id: string;
  model: string;
  provider: ModelProvider;
}

export function createNativeRuntime(options: NativeOptions): Runtime {
  const { tools, workspaces } = options;
  return {
    name: "native",
    runTurn: (turn) => runTurn(options, turn),
    keeps: () => workspaces.sessions(),
    async letGo(sessionId, isGone) {
      await tools.endSession(sessionId);
      if (isGone) await workspaces.remove(sessionId);
      else await workspaces.hibernate(sessionId);
    },
    async close() {
      await tools.close();
      await workspaces.close();
    },
  };
}

async function runTurn(options: NativeOptions, turn: Turn): Promise<TurnEnd> {
  const chosen = await chooseModel(options, turn);
  if ("outcome" in chosen) return chosen;
  const workspace = new TurnWorkspace(turn, options.workspaces);
  let end: TurnEnd;
  try {
    end = await work(options, turn, chosen, workspace);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    end = { outcome: "failed", error: { code: error.code, message: error.message } };
  }
  const changes = turn.killed.aborted ? [] : await workspace.changes();
  return { ...end, items: [...(end.items ?? []), ...changes] };
}

async function chooseModel(options: NativeOptions, turn: Turn): Promise<Chosen | TurnOver> {
  const { models, clock, random } = options;
  const id = turn.assignment.model ?? (await models.defaultModel());
  const found = models.provider(id);
  if ("code" in found)
    return { outcome: "failed", error: { code: found.code, message: found.message } };
  const provider = withRetries(found.provider, { clock, ...(random ? { random } : {}) });
  return { id, model: found.model, provider };
}

async function work(
  options: NativeOptions,
  turn: Turn,
  { id, model, provider }: Chosen,
  workspace: TurnWorkspace,
): Promise<TurnEnd> {
  const { tools, redact, clock } = options;
  const price = priceOf(id);
  const earlier = await settleEarlier(turn, provider, { id, model });
  // A repository's own rules must be known before the first request.
  const rules = workspace.isWanted ? await (await workspace.open()).instructions() : null;
  const conversation = await converse(turn, earlier);
  const loop = new TurnLoop({
    turn,
    provider,
    modelId: id,
    model,
    price,
    system: systemPrompt(turn.assignment, rules),
    conversation,
    tools,
    redact,
    workspace,
    bounds: new TurnBounds(turn.assignment, clock),
    clock,
  });
  return loop.run();
}

/** What is too old or too much is summed up before the turn begins. */
async function settleEarlier(
  turn: Turn,
  provider: ModelProvider,
  model: { id: string; model: string },
): Promise<Earlier> {
  const earlier = await loadEarlier(turn);
  const count = tooMany(earlier.exchanges);
  return count === 0 ? earlier : sumUp(turn, provider, model, earlier, count);
}

async function converse(turn: Turn, earlier: Earlier): Promise<Conversation> {
  const blobs = new Map<string, Promise<Blob | null>>();
  const conversation = new Conversation((sha256) => {
    const known = blobs.get(sha256) ?? turn.fetchBlob(sha256);
    blobs.set(sha256, known);
    return known;
  });
  if (earlier.summary !== null)
    conversation.addNote(`[What was said before, summed up]\n${earlier.summary}`);
  for (const { items } of earlier.exchanges) {
    for (const { item } of items) {
      if (item.type === "prompt") await conversation.addPrompt(item);
      else await conversation.add(item);
    }
  }
  const { content, attachments } = turn.assignment;
  await conversation.addPrompt({ text: content, attachments });
  for (const item of turn.journaled) await conversation.add(item);
  return conversation;
}

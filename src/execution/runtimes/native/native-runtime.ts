/**
 * Muster's own agent. The loop runs here, in the runner, and so do the models' keys; only the
 * agent's tools work in a sandbox.
 */
import type { Clock } from "#base/clock.ts";
import { Refusal } from "#base/refusal.ts";
import type { ModelProvider } from "#execution/models/model.ts";
import { priceOf } from "#execution/models/prices.ts";
import type { Models } from "#execution/models/registry.ts";
import { withRetries } from "#execution/models/retry.ts";
import {
  createGrowingRedactor,
  type GrowingRedactor,
  type Redactor,
} from "#execution/tools/output/redact.ts";
import type { RunnerTools } from "#execution/tools/tool.ts";
import type { Workspaces } from "#execution/workspaces/workspace.ts";
import type { JournalItem } from "#protocol/events.ts";
import type { HistoryItem } from "#protocol/frames.ts";
import { withAuthor } from "../prompt-author.ts";
import type { Runtime, Turn, TurnEnd } from "../runtime.ts";
import { resumeFrom } from "./calls/calls.ts";
import { Conversation } from "./conversation/conversation.ts";
import { type Earlier, loadEarlier } from "./conversation/earlier-turns.ts";
import { writeMemoryNote } from "./conversation/memory-note.ts";
import { summarizeEarlier } from "./conversation/summarize.ts";
import { systemPrompt } from "./conversation/system-prompt.ts";
import { TurnBounds } from "./turn-limits.ts";
import { TurnLoop, waitForMachine } from "./turn-loop.ts";
import { isTemporary, TurnWorkspace } from "./turn-workspace.ts";

export interface NativeOptions {
  models: Models;
  tools: RunnerTools;
  workspaces: Workspaces;
  redact: Redactor;
  clock: Clock;
  random?: () => number;
  /**
   * Asks the server again for its model providers; rejects when the server cannot be asked. Absent
   * where all models are known from the start.
   */
  refreshModels?: () => Promise<void>;
}

interface NativeParts extends Omit<NativeOptions, "redact"> {
  redactor: GrowingRedactor;
}

interface Chosen {
  id: string;
  model: string;
  provider: ModelProvider;
}

export function createNativeRuntime({ redact, ...given }: NativeOptions): Runtime {
  const redactor = createGrowingRedactor(redact);
  const options = { ...given, redactor };
  const { tools, workspaces } = options;
  return {
    name: "native",
    readsFirst: true,
    runTurn: (turn) => runTurn(options, turn),
    heldSessions: () => workspaces.sessions(),
    async releaseSession(sessionId, isGone) {
      if (!isGone) {
        await tools.rest(sessionId);
        return workspaces.hibernate(sessionId);
      }
      await tools.endSession(sessionId);
      await workspaces.remove(sessionId);
      await workspaces.sweep();
    },
    async close() {
      await tools.close();
      await workspaces.close();
    },
  };
}

async function runTurn(options: NativeParts, turn: Turn): Promise<TurnEnd> {
  const chosen = await chooseModel(options, turn);
  if ("outcome" in chosen) return chosen;
  const workspace = new TurnWorkspace(turn, options.workspaces, options.redactor);
  try {
    const end = withoutSecrets(await work(options, turn, chosen, workspace), options.redactor);
    return await withChanges(turn, workspace, end);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    if (turn.signal.aborted) return { outcome: "aborted" };
    // Calls that were reported as not begun still are not.
    if (isTemporary(error)) return waitForMachine(error, turn.assignment.notBegun ?? []);
    const end: TurnEnd = {
      outcome: "failed",
      error: { code: error.code, message: options.redactor.redact(error.message) },
    };
    return turn.killed.aborted ? end : { ...end, items: await workspace.changes() };
  }
}

/** Messages of failures quote git or a server, which may have echoed secrets. */
function withoutSecrets(end: TurnEnd, { redact }: GrowingRedactor): TurnEnd {
  if (end.outcome === "parked" || !end.error) return end;
  return { ...end, error: { ...end.error, message: redact(end.error.message) } };
}

/**
 * Adds the changes of the turn. Finding them takes a while, in which the runner may be lost or the
 * turn stopped by force, so the model's last text is made durable first.
 */
async function withChanges(turn: Turn, workspace: TurnWorkspace, end: TurnEnd): Promise<TurnEnd> {
  if (turn.killed.aborted || !workspace.mayHaveChanged) return end;
  if (end.items && end.items.length > 0) await turn.append(...end.items);
  return { ...end, items: await workspace.changes() };
}

async function chooseModel(options: NativeParts, turn: Turn): Promise<Chosen | TurnEnd> {
  const { models, clock, random, refreshModels } = options;
  let found = await findModel(models, turn.assignment.model);
  if ("code" in found && refreshModels) {
    // The provider may have been set up a moment ago: only the server can tell that it does not
    // exist.
    try {
      await refreshModels();
    } catch (error) {
      turn.log.warn({ err: error }, "the server cannot be asked for its model providers");
      return waitForModels(turn, "The server could not be asked which models are available.");
    }
    found = await findModel(models, turn.assignment.model);
  }
  if ("silent" in found) return waitForModels(turn, found.silent);
  if ("code" in found)
    return { outcome: "failed", error: { code: found.code, message: found.message } };
  const provider = withRetries(found.provider, {
    clock,
    ...(random ? { random } : {}),
    beforeRetry: () => turn.step(),
  });
  return { id: found.id, model: found.model, provider };
}

async function findModel(models: Models, wanted: string | null) {
  const choice = wanted === null ? await models.defaultModel() : { id: wanted };
  return "silent" in choice ? choice : { ...choice, ...models.provider(choice.id) };
}

const MODELS_PAUSE_MS = 2_000;
const MODELS_PAUSE_MAX_MS = 60_000;

/** An unknown model is no outcome yet: the turn releases its runner and is tried again. */
function waitForModels({ assignment }: Turn, why: string): TurnEnd {
  const waitMs = Math.min(MODELS_PAUSE_MS * assignment.fence, MODELS_PAUSE_MAX_MS);
  const message = `${why} The turn is retried by itself; or choose another model.`;
  return { outcome: "parked", park: { kind: "pause", waitMs, code: "models_unknown", message } };
}

async function work(
  options: NativeParts,
  turn: Turn,
  { id, model, provider }: Chosen,
  workspace: TurnWorkspace,
): Promise<TurnEnd> {
  const { tools, clock } = options;
  const { redact } = options.redactor;
  const resumption = resumeFrom(turn.journaled, new Set(turn.assignment.notBegun));
  const { finalText } = resumption;
  if (finalText !== null) return { outcome: "completed", result: finalText };
  const price = priceOf(id);
  const bounds = new TurnBounds(turn.assignment, clock);
  if (price === null && bounds.keepsToMoney) await warnUnpriced(turn, id);
  const summarizer = { turn, provider, modelId: id, model, price, bounds };
  const [loaded, brief] = await Promise.all([loadEarlier(turn), turn.brief()]);
  const earlier = await summarizeEarlier(summarizer, loaded);
  workspace.given = brief?.files ?? [];
  workspace.identity = brief?.identity ?? null;
  workspace.setup = brief?.setup == null ? null : { command: brief.setup, redact };
  // A repository's own rules must be known before the first request.
  const rules = workspace.isWanted ? await (await workspace.open()).instructions() : null;
  const reminder = await writeMemoryNote(turn, earlier, brief?.recall ?? [], redact);
  const slept = await noteEndedByRest(turn, tools, redact);
  const conversation = await converse(turn, earlier);
  if (reminder) conversation.add(reminder);
  if (slept) conversation.add(slept);
  const loop = new TurnLoop({
    turn,
    resumption,
    provider,
    modelId: id,
    model,
    price,
    system: systemPrompt(turn.assignment, brief, rules),
    conversation,
    tools,
    redact,
    workspace,
    bounds,
  });
  return loop.run();
}

/** After a sleep, lists once the background processes that it ended: the agent may count on them. */
async function noteEndedByRest(
  turn: Turn,
  tools: RunnerTools,
  redact: Redactor,
): Promise<JournalItem | undefined> {
  const ended = tools.takeEndedByRest(turn.assignment.sessionId);
  if (ended.length === 0) return undefined;
  const named = ended.map(({ id, command }) => `${id} (${command.replaceAll(/\s+/g, " ")})`);
  const text = redact(
    `[from Muster]\nThis session was asleep. Its background processes were ended then: ${named.join(", ")}. Start them again if they are needed.`,
  );
  const note: JournalItem = { type: "notice", entryId: turn.entryId(), text, forModel: true };
  await turn.append(note);
  return note;
}

/** Warns once a turn, however many attempts it takes. */
async function warnUnpriced(turn: Turn, id: string): Promise<void> {
  const text = `The price of ${id} is not known, so the budget cannot be enforced.`;
  const isTold = turn.journaled.some((item) => item.type === "notice" && item.text === text);
  if (!isTold) await turn.append({ type: "notice", entryId: turn.entryId(), text });
}

async function converse(turn: Turn, earlier: Earlier): Promise<Conversation> {
  const conversation = new Conversation((sha256) => turn.fetchBlob(sha256));
  const { summary, hidden } = earlier;
  if (summary !== null) conversation.addNote(`[Summary of the earlier conversation]\n${summary}`);
  const register = summary !== null || hidden > 0 ? await turn.register() : null;
  if (register !== null) conversation.addNote(register);
  if (hidden > 0)
    conversation.addNote(
      hidden === 1
        ? "[… 1 earlier exchange is not shown …]"
        : `[… ${hidden} earlier exchanges are not shown …]`,
    );
  for (const { items } of earlier.exchanges) {
    for (const { item } of items) {
      if (item.type !== "prompt") conversation.add(item);
      else await conversation.addPrompt(withPromptAuthor(turn, item));
    }
  }
  const { content: text, attachments, author } = turn.assignment;
  await conversation.addPrompt(withPromptAuthor(turn, { text, attachments, author }));
  for (const item of turn.journaled) conversation.add(item);
  return conversation;
}

/** Prompt as the model sees it: the author comes before all words that are not the person's own. */
function withPromptAuthor({ assignment }: Turn, { text, attachments, author }: PromptItem) {
  return { text: withAuthor(text, author, assignment), attachments };
}

type PromptItem = Omit<Extract<HistoryItem["item"], { type: "prompt" }>, "type">;

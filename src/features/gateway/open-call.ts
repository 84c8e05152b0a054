/**
 * Admits a request to a model: the attempt must still hold its run, the model must be the run's, and budget
 * must be left. An admitted request gets a row before the provider is called, so that it is counted even if
 * its server dies.
 */
import { Refusal } from "#base/refusal.ts";
import {
  command,
  type Engine,
  type Principal,
  type RunRow,
  type SessionRow,
  type SessionWriter,
  type Work,
} from "#engine/index.ts";
import {
  countByServer,
  findRun,
  findRunAgain,
  findRunner,
  requestStop,
} from "#engine/runs/index.ts";
import type { TokenUsage } from "./meter/format.ts";
import { unanswered } from "./meter/usage-meter.ts";
import { insertCall, reservedOf } from "./queries.ts";
import { readSettings, requireOpen } from "./settings.ts";

export type AgentPrincipal = Extract<Principal, { kind: "session" }>;
type RunRef = NonNullable<AgentPrincipal["run"]>;

/** Returns the cost of a request; null when the price of its model is unknown. */
export type PriceRequest = (
  model: string,
  usage: TokenUsage,
) => { costMicros: number | null; priceId: string | null };

export interface GatewayParts {
  engine: Engine;
  price: PriceRequest;
  /** Highest cost of a turn; null: no limit. */
  maxTurnMicros: number | null;
}

export interface NewCall {
  id: string;
  provider: string;
  /** Model name in the request, without the provider. */
  model: string;
  /** Models that the organisation offers of this provider; null: the provider's own list. */
  offered: readonly string[] | null;
  requestBytes: number;
}

export interface OpenedCall {
  id: string;
  sessionId: string;
  runId: string;
  model: string;
  requestBytes: number;
}

/** `spent`: no budget is left; a spent session budget also stops the turn. */
export type Opening = { call: OpenedCall } | { spent: "budget" | "turn" };

export function openCall(
  { engine, price, maxTurnMicros }: GatewayParts,
  ref: RunRef,
  newCall: NewCall,
): Promise<Opening> {
  return command(engine, async (work): Promise<Opening> => {
    const { session, run } = await lockRun(work, ref);
    const runner = await findRunner(work.tx, run.runner_id ?? "");
    // A runner that was removed meanwhile is trusted no more than a member's.
    requireOpen(await readSettings(work.tx, run.org_id), runner?.owner_id !== null);
    if (run.state === "stopping") {
      if (run.stop_reason === "budget") return { spent: "budget" };
      throw runOver();
    }
    const model = allowedModel(run, newCall);
    const { usage } = unanswered(newCall.requestBytes);
    const reserved = price(model, usage).costMicros ?? 0;
    const underWay = await reservedOf(work.tx, run.session_id);
    const spent = findSpentLimit(session.row, run, underWay, maxTurnMicros);
    // The agent ends a turn at the turn's own limit; a spent budget ends it whatever the agent does.
    if (spent === "budget") await requestStop(work, session, run, "budget", null);
    if (spent) return { spent };
    await countByServer(work, run);
    const { session_id: sessionId, id: runId, org_id } = run;
    await insertCall(work.tx, {
      id: newCall.id,
      org_id,
      session_id: sessionId,
      run_id: runId,
      server_id: work.serverId,
      model,
      request_bytes: newCall.requestBytes,
      reserved_micros: reserved,
      started_at: work.now,
    });
    return {
      call: { id: newCall.id, sessionId, runId, model, requestBytes: newCall.requestBytes },
    };
  });
}

async function lockRun(work: Work, ref: RunRef): Promise<{ session: SessionWriter; run: RunRow }> {
  const found = await findRun(work.tx, ref.runId);
  const session = found && (await work.session(found.session_id));
  const run = session && (await findRunAgain(work.tx, found));
  if (!session || !run || !isHeldBy(run, ref)) throw runOver();
  return { session, run };
}

/** True while the attempt that a token names holds its run. */
export async function isStillHeld({ store }: Engine, ref: RunRef): Promise<boolean> {
  const run = await store.read((reader) => findRun(reader, ref.runId));
  return run !== undefined && isHeldBy(run, ref);
}

const HELD: ReadonlySet<string> = new Set(["claimed", "running", "stopping"]);

/** A run that waits for a decision keeps its fence but has no holder: its lease is null. */
function isHeldBy(run: RunRow, { fence }: RunRef): boolean {
  return HELD.has(run.state) && run.lease_until !== null && run.fence === fence;
}

function runOver(): Refusal {
  return new Refusal(
    "forbidden",
    "run_over",
    "This run token is no longer valid for models: its turn has ended, waits or is stopping. Send a prompt to continue.",
  );
}

/** OpenAI's account has two interfaces, for which runners use two names. */
const ALSO_KNOWN_AS: Readonly<Record<string, string>> = { openai: "openai-chat" };

/**
 * Returns the id of the requested model. The organisation must offer it, and it must be the turn's model if
 * the turn has one: anybody may name any model in a session.
 */
function allowedModel(run: RunRow, { provider, model, offered }: NewCall): string {
  const names = [provider, ALSO_KNOWN_AS[provider]].filter((name) => name !== undefined);
  const ids = names.map((name) => `${name}/${model}`);
  const [first = ""] = ids;
  const allowed = run.model === null ? first : ids.find((id) => id === run.model);
  const isOffered = offered === null || offered.includes(model);
  if (allowed !== undefined && isOffered) return allowed;
  throw new Refusal(
    "forbidden",
    "model_not_allowed",
    !isOffered
      ? "The organisation does not offer this model. Choose one from /api/models."
      : "This turn started with another model. Choose the model in the session's settings, and send a prompt.",
  );
}

function findSpentLimit(
  { budget_micros, cost_micros }: SessionRow,
  run: RunRow,
  underWay: number,
  maxTurnMicros: number | null,
): "budget" | "turn" | undefined {
  if (budget_micros !== null && cost_micros + underWay >= budget_micros) return "budget";
  const turnMicros = (run.cost_micros ?? 0) + underWay;
  return maxTurnMicros !== null && turnMicros >= maxTurnMicros ? "turn" : undefined;
}

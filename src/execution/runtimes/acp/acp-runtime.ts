/**
 * Drives any agent program that speaks the Agent Client Protocol. A session's agent stays alive
 * between turns for a while; a new process resumes the conversation with `session/load` where the
 * agent can.
 */
import { mkdirSync } from "node:fs";
import type {
  ContentBlock,
  McpServer,
  PromptResponse,
  RequestPermissionRequest,
  RequestPermissionResponse,
} from "@agentclientprotocol/sdk";
import { type Clock, systemClock } from "#base/clock.ts";
import { LeaseLost, type Runtime, type Turn, type TurnOver } from "#execution/runtimes/runtime.ts";
import { AgentGone, AgentProcess } from "./agent-process.ts";
import { type AskPermission, answerWith, askServer, DECISIONS } from "./permissions.ts";
import type { AgentPreset } from "./preset.ts";
import { answerInterrupted, promptFor } from "./resume.ts";
import { UpdateJournal } from "./update-journal.ts";

const CANCEL_GRACE_MS = 5000;
const IDLE_MS = 5 * 60_000;
/** Limit of the history for a new agent. */
const SEED_ITEMS = 50;

/** Folder and environment that the agent of a turn runs in. */
export interface AgentLaunch {
  cwd: string;
  /** Whole environment, besides what the preset adds. Must hold no key of a provider. */
  env: Readonly<Record<string, string>>;
  /** Tool servers the agent may use. */
  mcpServers?: McpServer[];
}

export interface AcpRuntimeOptions {
  preset: AgentPreset;
  place(turn: Turn): AgentLaunch | Promise<AgentLaunch>;
  /** Server that offers the session's tools, if the agent program can speak to it. */
  serverUrl?: string;
  onPermission?: AskPermission;
  clock?: Clock;
  /** Time that an agent gets to obey a cancellation before it is killed. */
  cancelGraceMs?: number;
  /** Time that an idle agent is kept. */
  idleMs?: number;
}

interface Seat {
  agent: AgentProcess;
  acpSessionId: string;
  /** True when the agent does not know the earlier conversation. */
  isNew: boolean;
  cwd: string;
  /** Aborts the wait after which an idle agent is ended. */
  busy: AbortController;
}

export function createAcpRuntime(options: AcpRuntimeOptions): Runtime {
  return new AcpRuntime(options);
}

class AcpRuntime implements Runtime {
  readonly name: string;
  readonly #options: AcpRuntimeOptions;
  readonly #clock: Clock;
  readonly #seats = new Map<string, Seat>();
  readonly #agents = new Set<AgentProcess>();

  constructor(options: AcpRuntimeOptions) {
    this.name = options.preset.name;
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
  }

  async runTurn(turn: Turn): Promise<TurnOver> {
    try {
      await turn.step();
      const answers = answerInterrupted(turn);
      if (answers.length > 0) await turn.append(...answers);
      const seat = await this.#takeSeat(turn);
      if (!turn.signal.aborted) return await this.#prompt(seat, turn);
      this.#leaveSeat(turn.assignment.sessionId, seat);
      return { outcome: "aborted" };
    } catch (error) {
      if (error instanceof LeaseLost) throw error;
      if (turn.signal.aborted) return { outcome: "aborted" };
      return { outcome: "failed", error: describe(error, this.name) };
    }
  }

  async close(): Promise<void> {
    const agents = [...this.#agents];
    for (const { busy } of this.#seats.values()) busy.abort();
    this.#seats.clear();
    for (const agent of agents) agent.kill();
    await Promise.allSettled(agents.map(({ gone }) => gone));
  }

  /** Agent of the session: the running one, or a new one that resumes the conversation. */
  async #takeSeat(turn: Turn): Promise<Seat> {
    const { sessionId, executorSessionId } = turn.assignment;
    const place = await this.#options.place(turn);
    const held = this.#seats.get(sessionId);
    held?.busy.abort();
    this.#seats.delete(sessionId);
    const mayStay = held && !held.agent.isGone && held.cwd === place.cwd;
    // The tools of a turn carry its own token, so they are passed anew.
    const { serverUrl } = this.#options;
    if (mayStay && !place.mcpServers?.length && serverUrl === undefined)
      return { ...held, isNew: false, busy: new AbortController() };
    if (!mayStay) held?.agent.kill();
    const agent = mayStay ? held.agent : this.#start(place);
    const kill = () => agent.kill();
    turn.signal.addEventListener("abort", kill, { once: true });
    try {
      if (!mayStay) await agent.shakeHands();
      const mcpServers = [...(place.mcpServers ?? []), ...sessionTools(agent, serverUrl, turn)];
      const opened = await openSession(
        agent,
        { ...place, mcpServers },
        mayStay ? held.acpSessionId : executorSessionId,
      );
      await turn.bind({
        executorSessionId: opened.acpSessionId,
        executorType: this.name,
        executorProfile: null,
        projectDir: place.cwd,
      });
      return { agent, ...opened, cwd: place.cwd, busy: new AbortController() };
    } catch (error) {
      agent.kill();
      throw error;
    } finally {
      turn.signal.removeEventListener("abort", kill);
    }
  }

  #start({ cwd, env }: AgentLaunch): AgentProcess {
    mkdirSync(cwd, { recursive: true });
    const agent = new AgentProcess({ preset: this.#options.preset, cwd, env });
    this.#agents.add(agent);
    agent.gone.catch(() => this.#agents.delete(agent));
    return agent;
  }

  async #prompt(seat: Seat, turn: Turn): Promise<TurnOver> {
    const { agent, acpSessionId } = seat;
    const journal = new UpdateJournal(turn);
    const over = new AbortController();
    const kill = () => agent.kill();
    turn.killed.addEventListener("abort", kill, { once: true });
    agent.listener = {
      update: ({ sessionId, update }) => {
        if (sessionId === acpSessionId) journal.take(update);
      },
      permission: (request) => this.#askPermission(request, turn, journal),
    };
    try {
      const earlier = seat.isNew ? (await turn.history(null, SEED_ITEMS)).items : [];
      const prompt: ContentBlock[] = [{ type: "text", text: promptFor(turn, earlier) }];
      const answered = agent.agent.request("session/prompt", { sessionId: acpSessionId, prompt });
      const response = await agent.orGone(
        Promise.race([answered, this.#cutOff(seat, turn, over.signal)]),
      );
      return this.#endOf(response, journal, turn);
    } catch (error) {
      if (error instanceof LeaseLost) throw error;
      const items = journal.end(true);
      if (turn.signal.aborted) return { outcome: "aborted", items };
      return { outcome: "failed", error: describe(error, this.name), items };
    } finally {
      over.abort();
      agent.listener = null;
      turn.killed.removeEventListener("abort", kill);
      this.#leaveSeat(turn.assignment.sessionId, seat);
    }
  }

  /** Asks the agent to stop when the turn is cancelled; resolves with null when it does not obey. */
  async #cutOff({ agent, acpSessionId }: Seat, turn: Turn, over: AbortSignal): Promise<null> {
    await whenAborted(turn.signal);
    if (over.aborted) return null;
    void agent.agent.notify("session/cancel", { sessionId: acpSessionId }).catch(() => {});
    await this.#clock.sleep(this.#options.cancelGraceMs ?? CANCEL_GRACE_MS, over);
    if (!over.aborted) agent.kill();
    return null;
  }

  #endOf(response: PromptResponse | null, journal: UpdateJournal, turn: Turn): TurnOver {
    const isCut = response === null || response.stopReason === "cancelled";
    const result = journal.lastText;
    const items = journal.end(isCut);
    if (isCut) return { outcome: "aborted", items };
    if (response.stopReason === "refusal") {
      const message =
        "The model refused to continue. Rephrase the request, or choose another model.";
      return { outcome: "failed", error: { code: "model_refused", message }, items };
    }
    if (response.stopReason !== "end_turn") {
      items.push({
        type: "notice",
        entryId: turn.entryId(),
        text: `The agent stopped early: ${response.stopReason}.`,
      });
    }
    return {
      outcome: "completed",
      items,
      ...(result === undefined ? {} : { result }),
      ...usageOf(response),
    };
  }

  async #askPermission(
    request: RequestPermissionRequest,
    turn: Turn,
    journal: UpdateJournal,
  ): Promise<RequestPermissionResponse> {
    const cancelled = { outcome: { outcome: "cancelled" as const } };
    try {
      const { tool, title, kind, input } = await journal.beginCall(request.toolCall);
      const decisions = DECISIONS.filter((decision) =>
        request.options.some((option) => option.kind === decision),
      );
      const question = { callId: request.toolCall.toolCallId, tool, title, kind, input, decisions };
      const ask = this.#options.onPermission ?? askServer;
      const decision = await Promise.race([ask(question, turn), whenAborted(turn.signal)]);
      return decision === null ? cancelled : answerWith(decision, request.options);
    } catch (error) {
      turn.log.warn({ err: error }, "the permission could not be asked for");
      return cancelled;
    }
  }

  /** Keeps the agent for the session's next turn, for a while. */
  #leaveSeat(sessionId: string, seat: Seat): void {
    if (seat.agent.isGone) return;
    this.#seats.set(sessionId, seat);
    void this.#clock.sleep(this.#options.idleMs ?? IDLE_MS, seat.busy.signal).then(() => {
      if (seat.busy.signal.aborted || this.#seats.get(sessionId) !== seat) return;
      this.#seats.delete(sessionId);
      seat.agent.kill();
    });
  }
}

/**
 * Server tools of the session, for the bearer of the turn's token, which is valid while the turn
 * lasts.
 */
function sessionTools(
  { capabilities }: AgentProcess,
  serverUrl: string | undefined,
  { assignment }: Turn,
): McpServer[] {
  if (serverUrl === undefined || !capabilities.mcpCapabilities?.http) return [];
  const headers = [{ name: "Authorization", value: `Bearer ${assignment.token}` }];
  return [{ type: "http", name: "muster", url: `${serverUrl}/mcp`, headers }];
}

/** Loads the agent's earlier conversation, or begins a new one. */
async function openSession(
  agent: AgentProcess,
  { cwd, mcpServers = [] }: AgentLaunch,
  knownId: string | null,
): Promise<Pick<Seat, "acpSessionId" | "isNew">> {
  if (knownId !== null && agent.capabilities.loadSession) {
    try {
      const loaded = agent.agent.request("session/load", { sessionId: knownId, cwd, mcpServers });
      await agent.orGone(loaded);
      return { acpSessionId: knownId, isNew: false };
    } catch (error) {
      if (error instanceof AgentGone) throw error;
      // The agent has forgotten the conversation: our own transcript replaces it.
    }
  }
  const created = agent.agent.request("session/new", { cwd, mcpServers });
  const { sessionId } = await agent.orGone(created);
  return { acpSessionId: sessionId, isNew: true };
}

function usageOf(response: PromptResponse): Pick<TurnOver, "usage"> {
  const { usage } = response as {
    usage?: { inputTokens?: unknown; outputTokens?: unknown } | null;
  };
  if (typeof usage?.inputTokens !== "number" || typeof usage.outputTokens !== "number") return {};
  return {
    usage: { inputTokens: usage.inputTokens, outputTokens: usage.outputTokens, costMicros: null },
  };
}

function describe(error: unknown, name: string): { code: string; message: string } {
  if (error instanceof AgentGone) return { code: error.code, message: error.message };
  const { message, data } = error as { message?: string; data?: unknown };
  const detail = data === undefined ? "" : ` (${JSON.stringify(data).slice(0, 500)})`;
  return {
    code: "agent_error",
    message: `The agent "${name}" failed: ${message ?? String(error)}${detail}`,
  };
}

function whenAborted(signal: AbortSignal): Promise<null> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(null);
    else signal.addEventListener("abort", () => resolve(null), { once: true });
  });
}

/**
 * Agents that act for themselves: an agent program presents its run token and acts as the session
 * it works for, with the tools of that session and no others.
 */
import { type ToolDefinition, toolDefinition } from "#protocol/tools.ts";
import type { Principal } from "../requests/principal.ts";
import { findRun } from "../runs/queries.ts";
import type { RunTokens } from "../runs/runners/run-tokens.ts";
import { findSession } from "../sessions/queries.ts";
import { isHeldState } from "../transitions/run-transitions.ts";
import { type AgentCall, type AgentCallParts, callAsAgent } from "./agent-calls.ts";
import type { ToolAnswer } from "./tools.ts";

export type AgentPrincipal = Extract<Principal, { kind: "session" }>;

export interface AgentsOptions extends AgentCallParts {
  tokens: RunTokens;
}

export function createAgents({ tokens, ...parts }: AgentsOptions) {
  const { engine, catalogue } = parts;
  return {
    /** Undefined when the token was not signed here, or its attempt no longer holds the run. */
    async identify(token: string): Promise<AgentPrincipal | undefined> {
      const ref = tokens.read(token);
      if (!ref) return undefined;
      return engine.store.read(async (reader) => {
        const run = await findRun(reader, ref.runId);
        const isHeld = run && isHeldState(run.state);
        // A run that waits for a decision keeps its fence until it is claimed again, but nobody
        // holds it.
        if (!isHeld || run.lease_until === null || run.fence !== ref.fence) return undefined;
        const session = await findSession(reader, run.session_id);
        if (!session) return undefined;
        const { org_id: orgId, id: sessionId, owner_id: ownerId, title } = session;
        return { kind: "session", orgId, sessionId, ownerId, name: title ?? sessionId, run: ref };
      });
    },

    /** Tools of the server that the agent has. */
    async listTools(agent: AgentPrincipal): Promise<ToolDefinition[]> {
      const session = await engine.store.read((reader) => findSession(reader, agent.sessionId));
      return session ? catalogue.toolsFor(session).map(toolDefinition) : [];
    },

    async callTool(agent: AgentPrincipal, call: AgentCall): Promise<ToolAnswer> {
      return agent.run ? callAsAgent(parts, agent.run, call) : { lost: true };
    },
  };
}

/**
 * Roles and reach of these tools: orchestrators, and only their own children. The run identifies
 * the caller, never the input. Another person's session, a sibling's child, the caller itself and a
 * missing session get the same refusal.
 */
import * as z from "zod";
import type { AgentRole } from "#protocol/tools.ts";

export const ORCHESTRATORS: readonly AgentRole[] = ["orchestrator", "org_orchestrator"];

export const sessionIdInput = z
  .string()
  .min(1)
  .max(200)
  .describe("The id of one of your child sessions, from spawn_session or list_sessions.");

export const targetOf = (input: { sessionId: string }) => input.sessionId;

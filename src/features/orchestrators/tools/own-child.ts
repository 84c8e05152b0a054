/**
 * Whose tools these are and whom they reach: an orchestrator's, and no session but its own children.
 * Who calls is known by the run, never by the input. A stranger's session, a sibling's, its own and
 * one that is not there are refused in the same words.
 */
import * as z from "zod";
import type { AgentRole } from "#protocol/tools.ts";

export const ORCHESTRATORS: readonly AgentRole[] = ["orchestrator", "org_orchestrator"];

export const sessionIdInput = z
  .string()
  .min(1)
  .max(200)
  .describe("The id of one of your child sessions, as spawn_session or list_sessions gave it.");

export const targetOf = (input: { sessionId: string }) => input.sessionId;

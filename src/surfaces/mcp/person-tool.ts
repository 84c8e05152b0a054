/** Definition of a person's tool, and the arguments of its handler. */
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import type * as z from "zod";
import type { Action, Kernel, Principal } from "#engine/index.ts";
import type { MailMessage } from "#features/mailbox/contract.ts";
import type { TaskCard, TaskStatus } from "#features/tasks/contract.ts";
import { resolveSessionId } from "#protocol/names/session-ids.ts";
import type { Page } from "#protocol/page.ts";
import type { Prompt } from "#protocol/sessions.ts";
import { requireId } from "#surfaces/http/input.ts";
import type { CallContext } from "./toolbox.ts";
import type { WaitParts } from "./wait-for-prompt.ts";

export type Person = Extract<Principal, { kind: "user" }>;

/** Sends a prompt to the person's orchestrator. The same dispatch id is the same prompt. */
export type PromptOrchestrator = (
  person: Person,
  content: string,
  dispatchId: string | undefined,
) => Promise<Prompt>;

/** Features' data of a person, for the tools that show it; they check the rights again. */
export interface Coordination {
  listTasks(
    person: Person,
    sessionId: string,
    filter: {
      statuses?: readonly TaskStatus[] | undefined;
      cursor?: string | undefined;
      limit: number;
    },
  ): Promise<Page<TaskCard>>;
  /** Lists unread messages first. */
  readInbox(
    person: Person,
    wish: { limit: number; unreadOnly?: boolean | undefined; markRead?: boolean | undefined },
  ): Promise<{ unread: number; messages: MailMessage[] }>;
}

export interface PersonParts extends WaitParts {
  kernel: Kernel;
  promptOrchestrator: PromptOrchestrator;
  coordination: Coordination;
}

export interface PersonCall extends CallContext {
  parts: PersonParts;
  person: Person;
}

export interface PersonTool<S extends z.ZodType = z.ZodType> {
  name: string;
  title: string;
  /** Text for the model of the person's client. */
  description: string;
  schema: S;
  /** Right that the key must have; without it the tool is hidden. */
  action: Action;
  readOnly: boolean;
  /** Set for a tool that changes something, but only once per `callId`. */
  repeatable?: true;
  waits?: true;
  handle(call: PersonCall, input: z.infer<S>): Promise<CallToolResult>;
}

/** Keeps the input's type between the schema and the handler. */
export function personTool<S extends z.ZodType>(tool: PersonTool<S>): PersonTool {
  return tool as unknown as PersonTool;
}

/** Resolves a session: its id, or `orchestrator` for the person's own. */
export function resolveSession(given: string, { userId }: Person): string {
  return resolveSessionId(requireId(given, "session"), userId);
}

/** HTTP routes of sessions and prompts: paths, inputs and answers. */
import * as z from "zod";
import { line, prose, wordList } from "#base/text/text-schemas.ts";
import { apiRoute } from "#protocol/api-route.ts";
import { pageOf, pageQuery } from "#protocol/page.ts";
import {
  ACTIVITIES,
  entrySchema,
  LIFECYCLES,
  MAIN_THREAD,
  MAX_PROMPT_CHARS,
  PROMPT_STATES,
  promptSchema,
  QUEUE_MODES,
  SESSION_KINDS,
  SESSION_STATUSES,
  sessionSchema,
} from "#protocol/sessions.ts";

const MAX_TITLE_CHARS = 300;
const MAX_INSTRUCTIONS_CHARS = 100_000;
const MAX_ATTACHMENTS = 20;

const oneSession = z.object({ session: sessionSchema });
const onePrompt = z.object({ prompt: promptSchema });
const redacted = z.object({ redacted: z.array(z.string()) });
const nothing = z.strictObject({});
const promptText = z.string().min(1).max(MAX_PROMPT_CHARS);
const seq = z.coerce.number<number>().int().min(0).optional();
/** Children end with their parent unless they are detached. */
const childrenFate = z.enum(["end", "detach"]).optional();

const newSession = z.strictObject({
  title: line(MAX_TITLE_CHARS).optional(),
  kind: z.enum(SESSION_KINDS).optional(),
  purpose: z.enum(["task", "review"]).optional(),
  runtime: line(100).min(1).optional(),
  model: line(200).min(1).optional(),
  repo: line(2_000).optional(),
  branch: line(500).optional(),
  personaSlug: line(100).optional(),
  parentSessionId: line(200).optional(),
  scopeKey: line(500).optional(),
  queueMode: z.enum(QUEUE_MODES).optional(),
  instructions: prose(MAX_INSTRUCTIONS_CHARS).optional(),
  enableMemory: z.boolean().optional(),
  /** Keeps a child from changing anything until its plan was approved. */
  requirePlanApproval: z.boolean().optional(),
  budget: z.number().int().min(0).optional(),
  projectDir: line(4_096).optional(),
  prompt: promptText.optional(),
});

const sessionChange = z.strictObject({
  title: line(MAX_TITLE_CHARS).nullable().optional(),
  queueMode: z.enum(QUEUE_MODES).optional(),
  model: line(200).min(1).nullable().optional(),
  instructions: prose(MAX_INSTRUCTIONS_CHARS).nullable().optional(),
  enableMemory: z.boolean().optional(),
  /** In micro-units; null removes the budget. */
  budget: z.number().int().min(0).nullable().optional(),
});

const sessionFilter = z.strictObject({
  ...pageQuery,
  status: wordList([...ACTIVITIES, ...SESSION_STATUSES]),
  lifecycle: wordList(LIFECYCLES),
  kind: z.enum(SESSION_KINDS).optional(),
  parent: line(200).optional(),
  persona: line(100).optional(),
  repo: line(2_000).optional(),
  q: prose(200).optional(),
});

const SESSIONS = "/api/sessions";
const SESSION = `${SESSIONS}/{id}` as const;

/** A change of a session's lifecycle that needs no further input. */
const lifecycleRoute = <const Verb extends string>(verb: Verb, summary: string) =>
  apiRoute({
    method: "post",
    path: `${SESSION}/${verb}`,
    summary,
    tag: "Sessions",
    body: nothing,
    response: oneSession,
  });

export const sessionsApi = {
  create: apiRoute({
    method: "post",
    path: SESSIONS,
    summary: "Create a session, optionally with a first prompt",
    tag: "Sessions",
    body: newSession,
    status: 201,
    takesIdempotencyKey: true,
    response: oneSession,
  }),
  list: apiRoute({
    method: "get",
    path: SESSIONS,
    summary: "Your sessions, newest first",
    tag: "Sessions",
    query: sessionFilter,
    response: pageOf(sessionSchema),
  }),
  get: apiRoute({
    method: "get",
    path: SESSION,
    summary: "One session",
    tag: "Sessions",
    response: oneSession,
  }),
  update: apiRoute({
    method: "patch",
    path: SESSION,
    summary: "Change the title, model, queue mode, instructions, memory or budget",
    tag: "Sessions",
    body: sessionChange,
    response: oneSession,
  }),
  delete: apiRoute({
    method: "delete",
    path: SESSION,
    summary:
      "Archive a session for 7 days, then delete it. `force` stops running turns; children end too unless they are detached",
    tag: "Sessions",
    query: z.strictObject({
      force: z.enum(["true", "false"]).default("false"),
      children: childrenFate,
    }),
    response: oneSession,
  }),
  stop: apiRoute({
    method: "post",
    path: `${SESSION}/stop`,
    summary: "Stop the turn of `promptId`, or the running turn; queued prompts go on",
    tag: "Sessions",
    body: z.strictObject({ promptId: line(200).optional() }),
    response: z.object({ session: sessionSchema, stopped: z.array(z.string()) }),
  }),
  hibernate: lifecycleRoute("hibernate", "Put a session to sleep; the next prompt wakes it"),
  wake: lifecycleRoute("wake", "Wake a sleeping or archived session"),
  relocate: lifecycleRoute(
    "relocate",
    "Continue a session on another machine while the one with its files is gone",
  ),
  terminate: lifecycleRoute("terminate", "End a session and its children permanently"),
  archive: apiRoute({
    method: "post",
    path: `${SESSION}/archive`,
    summary: "Archive a session; its children end too unless they are detached",
    tag: "Sessions",
    body: z.strictObject({ force: z.boolean().default(false), children: childrenFate }),
    response: oneSession,
  }),
  clear: apiRoute({
    method: "post",
    path: `${SESSION}/clear`,
    summary: "Start a fresh context; the history stays readable",
    tag: "Sessions",
    body: z.strictObject({ thread: line(200).min(1).default(MAIN_THREAD) }),
    response: oneSession,
  }),
  transcript: apiRoute({
    method: "get",
    path: `${SESSION}/transcript`,
    summary: "Transcript entries in order; the newest page first, older ones with `before`",
    tag: "Sessions",
    query: z.strictObject({
      thread: line(200).optional(),
      before: seq,
      after: seq,
      limit: pageQuery.limit,
    }),
    response: pageOf(entrySchema),
  }),
  redactEntry: apiRoute({
    method: "post",
    path: `${SESSION}/entries/{entryId}/redact`,
    summary:
      "Remove the content of an entry permanently from the transcript, the search and the agent's context",
    tag: "Sessions",
    body: nothing,
    response: redacted,
  }),
  events: apiRoute({
    method: "get",
    path: `${SESSION}/events`,
    summary:
      "Event log as server-sent events: replayed after a seq, then live, with deltas in between",
    tag: "Sessions",
    query: z.strictObject({ after: seq }),
    response: z.string(),
    mediaType: "text/event-stream",
  }),
};

export const attachmentSchema = z.strictObject({
  name: line(300).min(1),
  mediaType: line(200).regex(/^[\w.+-]+\/[\w.+-]+$/, "must be a media type such as image/png"),
  /** Base64; or a `data:` URL in `url`. */
  data: z.string().optional(),
  url: z.string().optional(),
});

const newPrompt = z.strictObject({
  content: promptText,
  thread: line(200).min(1).default(MAIN_THREAD),
  mode: z.enum(QUEUE_MODES).optional(),
  dispatchId: line(200).min(1).optional(),
  attachments: z.array(attachmentSchema).max(MAX_ATTACHMENTS).default([]),
  /** Age of a prompt that the client kept: it answers no question that was asked since. */
  writtenMsAgo: z.number().int().min(0).max(Number.MAX_SAFE_INTEGER).optional(),
});

const PROMPT = "/api/prompts/{id}";

export const promptsApi = {
  create: apiRoute({
    method: "post",
    path: `${SESSION}/prompts`,
    summary: "Send a prompt; answered once it is stored durably",
    tag: "Prompts",
    body: newPrompt,
    status: 202,
    takesIdempotencyKey: true,
    response: onePrompt,
  }),
  list: apiRoute({
    method: "get",
    path: `${SESSION}/prompts`,
    summary:
      "Prompts of a session; `state=queued,collecting` is the queue in the order it will run",
    tag: "Prompts",
    query: z.strictObject({ ...pageQuery, state: wordList(PROMPT_STATES) }),
    response: pageOf(promptSchema),
  }),
  get: apiRoute({
    method: "get",
    path: PROMPT,
    summary: "A prompt: its state, and the reason it waits",
    tag: "Prompts",
    response: onePrompt,
  }),
  update: apiRoute({
    method: "patch",
    path: PROMPT,
    summary: "Edit a queued prompt",
    tag: "Prompts",
    body: z.strictObject({ content: promptText }),
    response: onePrompt,
  }),
  withdraw: apiRoute({
    method: "delete",
    path: PROMPT,
    summary: "Withdraw a queued prompt",
    tag: "Prompts",
    response: onePrompt,
  }),
  promote: apiRoute({
    method: "post",
    path: `${PROMPT}/promote`,
    summary: "Send a queued prompt now: it goes to the front and interrupts the running turn",
    tag: "Prompts",
    body: nothing,
    response: onePrompt,
  }),
  retry: apiRoute({
    method: "post",
    path: `${PROMPT}/retry`,
    summary:
      "Send a prompt again whose turn failed or was stopped; a repeated request returns the same prompt",
    tag: "Prompts",
    body: nothing,
    status: 202,
    response: onePrompt,
  }),
  redact: apiRoute({
    method: "post",
    path: `${PROMPT}/redact`,
    summary:
      "Remove the content of a prompt permanently that was withdrawn or aborted before its turn",
    tag: "Prompts",
    body: nothing,
    response: redacted,
  }),
  attachment: apiRoute({
    method: "get",
    path: `${PROMPT}/attachments/{sha256}`,
    summary: "One attachment",
    tag: "Prompts",
    response: z.string(),
    mediaType: "application/octet-stream",
  }),
};

import * as z from "zod";
import { line, prose, wordList } from "#base/text-schemas.ts";
import type { Kernel } from "#engine/index.ts";
import { MAIN_THREAD } from "#engine/sessions/index.ts";
import { pageOf, pageQuery } from "#protocol/page.ts";
import {
  ACTIVITIES,
  entrySchema,
  LIFECYCLES,
  MAX_PROMPT_CHARS,
  QUEUE_MODES,
  SESSION_KINDS,
  SESSION_STATUSES,
  sessionSchema,
} from "#protocol/sessions.ts";
import { type App, idempotencyOf, principalOf, sessionIdOf } from "../app.ts";
import { endpoint } from "../endpoint.ts";
import { requireId } from "../input.ts";

const TAG = "Sessions";
const one = z.object({ session: sessionSchema });
const MAX_TEXT = 100_000;

const newSession = z.strictObject({
  title: line(300).optional(),
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
  instructions: prose(MAX_TEXT).optional(),
  enableMemory: z.boolean().optional(),
  /** Of a session with a parent: it changes nothing until its plan was approved. */
  requirePlanApproval: z.boolean().optional(),
  budget: z.number().int().min(0).optional(),
  projectDir: line(4_096).optional(),
  prompt: z.string().min(1).max(MAX_PROMPT_CHARS).optional(),
});

const sessionChange = z.strictObject({
  title: line(300).nullable().optional(),
  queueMode: z.enum(QUEUE_MODES).optional(),
  model: line(200).min(1).nullable().optional(),
  instructions: prose(MAX_TEXT).nullable().optional(),
  enableMemory: z.boolean().optional(),
  /** In micro-units; null takes the budget away. */
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

const seq = z.coerce.number().int().min(0).optional();

const childrenFate = z.enum(["end", "detach"]).optional();

export function sessionRoutes(app: App, { sessions }: Kernel): void {
  endpoint(
    app,
    {
      method: "post",
      path: "/api/sessions",
      summary: "Start a session, with a first prompt if you like",
      tag: TAG,
      body: newSession,
      status: 201,
      takesIdempotencyKey: true,
      response: one,
    },
    async ({ c, body }) => ({
      session: await sessions.create(principalOf(c), body, idempotencyOf(c)),
    }),
  );
  endpoint(
    app,
    {
      method: "get",
      path: "/api/sessions",
      summary: "Your sessions, newest first",
      tag: TAG,
      query: sessionFilter,
      response: pageOf(sessionSchema),
    },
    ({ c, query }) => sessions.list(principalOf(c), query),
  );
  endpoint(
    app,
    { method: "get", path: "/api/sessions/{id}", summary: "One session", tag: TAG, response: one },
    async ({ c }) => ({
      session: await sessions.get(principalOf(c), sessionIdOf(c)),
    }),
  );
  endpoint(
    app,
    {
      method: "patch",
      path: "/api/sessions/{id}",
      summary: "Change its title, model, queue mode, instructions, memory or budget",
      tag: TAG,
      body: sessionChange,
      response: one,
    },
    async ({ c, body }) => ({
      session: await sessions.update(principalOf(c), sessionIdOf(c), body),
    }),
  );
  endpoint(
    app,
    {
      method: "delete",
      path: "/api/sessions/{id}",
      summary:
        "Archive it for 7 days, then remove it; force stops running turns. Its children end with it, or are detached",
      tag: TAG,
      query: z.strictObject({
        force: z.enum(["true", "false"]).default("false"),
        children: childrenFate,
      }),
      response: one,
    },
    async ({ c, query: { force, children } }) => ({
      session: await sessions.archive(principalOf(c), sessionIdOf(c), force === "true", children),
    }),
  );
  lifeRoutes(app, sessions);
  transcriptRoutes(app, sessions);
}

function transcriptRoutes(app: App, sessions: Kernel["sessions"]): void {
  endpoint(
    app,
    {
      method: "get",
      path: "/api/sessions/{id}/transcript",
      summary: "What was said and done, in order; the newest page first, older ones with `before`",
      tag: TAG,
      query: z.strictObject({
        thread: line(200).optional(),
        before: seq,
        after: seq,
        limit: pageQuery.limit,
      }),
      response: pageOf(entrySchema),
    },
    ({ c, query }) => sessions.transcript(principalOf(c), sessionIdOf(c), query),
  );
  endpoint(
    app,
    {
      method: "post",
      path: "/api/sessions/{id}/entries/{entryId}/redact",
      summary:
        "Take what an entry says out of the transcript, the search and the agent's sight, for good",
      tag: TAG,
      body: z.strictObject({}),
      response: z.object({ redacted: z.array(z.string()) }),
    },
    async ({ c }) => ({
      redacted: await sessions.redact(
        principalOf(c),
        sessionIdOf(c),
        requireId(c.req.param("entryId"), "entry"),
      ),
    }),
  );
}

function lifeRoutes(app: App, sessions: Kernel["sessions"]): void {
  endpoint(
    app,
    {
      method: "post",
      path: "/api/sessions/{id}/stop",
      summary: "End the turn of `promptId`, else the running turn; what is queued goes on",
      tag: TAG,
      body: z.strictObject({ promptId: line(200).optional() }),
      response: z.object({ session: sessionSchema, stopped: z.array(z.string()) }),
    },
    ({ c, body }) => sessions.stop(principalOf(c), sessionIdOf(c), body.promptId),
  );
  const actions = {
    hibernate: { summary: "Put it to sleep; the next prompt wakes it", act: sessions.hibernate },
    wake: { summary: "Take it up again", act: sessions.wake },
    relocate: {
      summary: "Continue it on another machine while the one that holds its files is gone",
      act: sessions.relocate,
    },
    terminate: { summary: "End it and its children for good", act: sessions.terminate },
  };
  for (const [name, { summary, act }] of Object.entries(actions)) {
    endpoint(
      app,
      {
        method: "post",
        path: `/api/sessions/{id}/${name}`,
        summary,
        tag: TAG,
        body: z.strictObject({}),
        response: one,
      },
      async ({ c }) => ({
        session: await act(principalOf(c), sessionIdOf(c)),
      }),
    );
  }
  endpoint(
    app,
    {
      method: "post",
      path: "/api/sessions/{id}/archive",
      summary: "Archive it; its children end with it, or are detached",
      tag: TAG,
      body: z.strictObject({ force: z.boolean().default(false), children: childrenFate }),
      response: one,
    },
    async ({ c, body: { force, children } }) => ({
      session: await sessions.archive(principalOf(c), sessionIdOf(c), force, children),
    }),
  );
  endpoint(
    app,
    {
      method: "post",
      path: "/api/sessions/{id}/clear",
      summary: "Begin a fresh context; history stays readable",
      tag: TAG,
      body: z.strictObject({ thread: line(200).min(1).default(MAIN_THREAD) }),
      response: one,
    },
    async ({ c, body }) => ({
      session: await sessions.clear(principalOf(c), sessionIdOf(c), body.thread),
    }),
  );
}

import * as z from "zod";
import { Refusal } from "#base/refusal.ts";
import { line, wordList } from "#base/text-schemas.ts";
import type { Kernel } from "#engine/index.ts";
import { type BlobInput, MAIN_THREAD } from "#engine/sessions/index.ts";
import { pageOf, pageQuery } from "#protocol/page.ts";
import { MAX_PROMPT_CHARS, PROMPT_STATES, promptSchema, QUEUE_MODES } from "#protocol/sessions.ts";
import { type App, idempotencyOf, principalOf, sessionIdOf } from "../app.ts";
import { endpoint } from "../endpoint.ts";
import { requireId } from "../input.ts";

const TAG = "Prompts";
const one = z.object({ prompt: promptSchema });
const MAX_ATTACHMENTS = 20;

const attachment = z.strictObject({
  name: line(300).min(1),
  mediaType: line(200).regex(/^[\w.+-]+\/[\w.+-]+$/, "must be a media type such as image/png"),
  /** Base64, or a `data:` URL in `url`. */
  data: z.string().optional(),
  url: z.string().optional(),
});

const newPrompt = z.strictObject({
  content: z.string().min(1).max(MAX_PROMPT_CHARS),
  thread: line(200).min(1).default(MAIN_THREAD),
  mode: z.enum(QUEUE_MODES).optional(),
  dispatchId: line(200).min(1).optional(),
  attachments: z.array(attachment).max(MAX_ATTACHMENTS).default([]),
  /** Of a prompt that was kept by the client: it answers no question that was asked since. */
  writtenMsAgo: z.number().int().min(0).max(Number.MAX_SAFE_INTEGER).optional(),
});

export function promptRoutes(app: App, { prompts }: Kernel): void {
  endpoint(
    app,
    {
      method: "post",
      path: "/api/sessions/{id}/prompts",
      summary: "Send a prompt; answered once it can no longer be lost",
      tag: TAG,
      body: newPrompt,
      status: 202,
      takesIdempotencyKey: true,
      response: one,
    },
    async ({ c, body }) => ({
      prompt: await prompts.admit(
        principalOf(c),
        sessionIdOf(c),
        { ...body, attachments: body.attachments.map(readAttachment) },
        idempotencyOf(c),
      ),
    }),
  );
  endpoint(
    app,
    {
      method: "get",
      path: "/api/sessions/{id}/prompts",
      summary:
        "Its prompts; `state=queued,collecting` is the queue in the order in which it will run",
      tag: TAG,
      query: z.strictObject({ ...pageQuery, state: wordList(PROMPT_STATES) }),
      response: pageOf(promptSchema),
    },
    ({ c, query: { state, cursor, limit } }) =>
      prompts.list(principalOf(c), sessionIdOf(c), {
        states: state,
        cursor,
        limit,
      }),
  );
  endpoint(
    app,
    {
      method: "get",
      path: "/api/prompts/{id}",
      summary: "The receipt of a prompt: where it is, and why it waits",
      tag: TAG,
      response: one,
    },
    async ({ c }) => ({
      prompt: await prompts.get(principalOf(c), requireId(c.req.param("id"), "prompt")),
    }),
  );
  endpoint(
    app,
    {
      method: "patch",
      path: "/api/prompts/{id}",
      summary: "Edit a prompt that still waits",
      tag: TAG,
      body: z.strictObject({ content: z.string().min(1).max(MAX_PROMPT_CHARS) }),
      response: one,
    },
    async ({ c, body }) => ({
      prompt: await prompts.edit(
        principalOf(c),
        requireId(c.req.param("id"), "prompt"),
        body.content,
      ),
    }),
  );
  endpoint(
    app,
    {
      method: "delete",
      path: "/api/prompts/{id}",
      summary: "Withdraw a prompt that still waits",
      tag: TAG,
      response: one,
    },
    async ({ c }) => ({
      prompt: await prompts.withdraw(principalOf(c), requireId(c.req.param("id"), "prompt")),
    }),
  );
  endpoint(
    app,
    {
      method: "post",
      path: "/api/prompts/{id}/promote",
      summary: "Send it now: to the front, cutting the turn that runs",
      tag: TAG,
      body: z.strictObject({}),
      response: one,
    },
    async ({ c }) => ({
      prompt: await prompts.promote(principalOf(c), requireId(c.req.param("id"), "prompt")),
    }),
  );
  settledRoutes(app, prompts);
  attachmentRoute(app, prompts);
}

/** Routes for prompts that are over. */
function settledRoutes(app: App, prompts: Kernel["prompts"]): void {
  endpoint(
    app,
    {
      method: "post",
      path: "/api/prompts/{id}/retry",
      summary:
        "Send a prompt whose turn failed or was stopped once more; asked again, it gives back the same prompt",
      tag: TAG,
      body: z.strictObject({}),
      status: 202,
      response: one,
    },
    async ({ c }) => ({
      prompt: await prompts.retry(principalOf(c), requireId(c.req.param("id"), "prompt")),
    }),
  );
  endpoint(
    app,
    {
      method: "post",
      path: "/api/prompts/{id}/redact",
      summary:
        "Take out what a prompt says that was withdrawn or aborted before its turn, for good",
      tag: TAG,
      body: z.strictObject({}),
      response: z.object({ redacted: z.array(z.string()) }),
    },
    async ({ c }) => ({
      redacted: await prompts.redact(principalOf(c), requireId(c.req.param("id"), "prompt")),
    }),
  );
}

function attachmentRoute(app: App, prompts: Kernel["prompts"]): void {
  endpoint(
    app,
    {
      method: "get",
      path: "/api/prompts/{id}/attachments/{sha256}",
      summary: "One attachment",
      tag: TAG,
      response: z.string(),
      mediaType: "application/octet-stream",
    },
    async ({ c }) => {
      const { name, mediaType, data } = await prompts.attachment(
        principalOf(c),
        requireId(c.req.param("id"), "prompt"),
        requireId(c.req.param("sha256"), "attachment"),
      );
      return new Response(new Uint8Array(data), {
        headers: {
          "Content-Type": mediaType,
          // Somebody else's file must not become a page of ours.
          "Content-Disposition": `attachment; filename*=UTF-8''${encodeURIComponent(name)}`,
          "Content-Security-Policy": "sandbox; default-src 'none'",
          "X-Content-Type-Options": "nosniff",
          "Cache-Control": "private, no-store",
        },
      });
    },
  );
}

function readAttachment({ name, mediaType, data, url }: z.infer<typeof attachment>): BlobInput {
  const base64 = data ?? /^data:[^,]*;base64,(.*)$/s.exec(url ?? "")?.[1];
  if (base64 === undefined || !/^[A-Za-z0-9+/]*={0,2}$/.test(base64)) {
    throw new Refusal(
      "invalid",
      "attachment_invalid",
      `The attachment ${name} needs base64 in \`data\`, or a base64 data: URL in \`url\`.`,
    );
  }
  return { name, mediaType, data: Buffer.from(base64, "base64") };
}

import type * as z from "zod";
import { Refusal } from "#base/refusal.ts";
import type { Kernel } from "#engine/index.ts";
import { type attachmentSchema, promptsApi } from "#engine/sessions/contract.ts";
import type { BlobInput } from "#engine/sessions/index.ts";
import { type App, idempotencyOf, principalOf, sessionIdOf } from "../app.ts";
import { endpoint } from "../endpoint.ts";
import { requireId } from "../input.ts";

export function promptRoutes(app: App, { prompts }: Kernel): void {
  endpoint(app, promptsApi.create, async ({ c, body }) => ({
    prompt: await prompts.admit(
      principalOf(c),
      sessionIdOf(c),
      { ...body, attachments: body.attachments.map(readAttachment) },
      idempotencyOf(c),
    ),
  }));
  endpoint(app, promptsApi.list, ({ c, query: { state, cursor, limit } }) =>
    prompts.list(principalOf(c), sessionIdOf(c), {
      states: state,
      cursor,
      limit,
    }),
  );
  endpoint(app, promptsApi.get, async ({ c }) => ({
    prompt: await prompts.get(principalOf(c), requireId(c.req.param("id"), "prompt")),
  }));
  endpoint(app, promptsApi.update, async ({ c, body }) => ({
    prompt: await prompts.edit(
      principalOf(c),
      requireId(c.req.param("id"), "prompt"),
      body.content,
    ),
  }));
  endpoint(app, promptsApi.withdraw, async ({ c }) => ({
    prompt: await prompts.withdraw(principalOf(c), requireId(c.req.param("id"), "prompt")),
  }));
  endpoint(app, promptsApi.promote, async ({ c }) => ({
    prompt: await prompts.promote(principalOf(c), requireId(c.req.param("id"), "prompt")),
  }));
  settledRoutes(app, prompts);
  attachmentRoute(app, prompts);
}

/** Routes for settled prompts. */
function settledRoutes(app: App, prompts: Kernel["prompts"]): void {
  endpoint(app, promptsApi.retry, async ({ c }) => ({
    prompt: await prompts.retry(principalOf(c), requireId(c.req.param("id"), "prompt")),
  }));
  endpoint(app, promptsApi.redact, async ({ c }) => ({
    redacted: await prompts.redact(principalOf(c), requireId(c.req.param("id"), "prompt")),
  }));
}

function attachmentRoute(app: App, prompts: Kernel["prompts"]): void {
  endpoint(app, promptsApi.attachment, async ({ c }) => {
    const { name, mediaType, data } = await prompts.attachment(
      principalOf(c),
      requireId(c.req.param("id"), "prompt"),
      requireId(c.req.param("sha256"), "attachment"),
    );
    return new Response(new Uint8Array(data), {
      headers: {
        "Content-Type": mediaType,
        // Another person's file must not become a page of ours.
        "Content-Disposition": `attachment; filename*=UTF-8''${encodeURIComponent(name)}`,
        "Content-Security-Policy": "sandbox; default-src 'none'",
        "X-Content-Type-Options": "nosniff",
        "Cache-Control": "private, no-store",
      },
    });
  });
}

function readAttachment({
  name,
  mediaType,
  data,
  url,
}: z.infer<typeof attachmentSchema>): BlobInput {
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

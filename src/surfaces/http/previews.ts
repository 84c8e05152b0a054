/**
 * Showing what an agent made. A page of an agent is somebody else's code: it is served only under an
 * address that carries its own right to be read, never by cookie, and a sandbox without an origin
 * keeps it from everything that is ours.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import * as z from "zod";
import type { Clock } from "#base/clock.ts";
import { notFound } from "#base/refusal.ts";
import type { Kernel } from "#engine/index.ts";
import { type App, addressOf, principalOf } from "./app.ts";
import type { Callers } from "./callers.ts";
import { endpoint } from "./endpoint.ts";
import { line, requireId } from "./input.ts";

const LIFE_MS = 60 * 60_000;

/** `allow-scripts` without `allow-same-origin`: its scripts run, with no origin and no way out. */
const PREVIEW_HEADERS = {
  "Content-Security-Policy":
    "sandbox allow-scripts; default-src 'self' data: blob: 'unsafe-inline'; connect-src 'none'; form-action 'none'; base-uri 'none'; object-src 'none'; frame-ancestors 'self'",
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "no-referrer",
  "Cross-Origin-Resource-Policy": "cross-origin",
  "Cache-Control": "no-store",
};

export interface PreviewOptions {
  kernel: Kernel;
  callers: Callers;
  clock: Clock;
  secretKey: string;
}

export function previewRoutes(app: App, options: PreviewOptions): void {
  const { kernel, callers, clock, secretKey } = options;
  const key = createHmac("sha256", secretKey).update("previews").digest();
  endpoint(
    app,
    {
      method: "post",
      path: "/api/sessions/{id}/previews",
      summary: "An address, good for an hour, that shows files of the workspace safely",
      tag: "Workspaces",
      body: z.strictObject({ path: line(4096).min(1).optional() }),
      status: 201,
      response: z.object({ url: z.string(), expiresAt: z.string() }),
    },
    async ({ c, body }) => {
      const sessionId = requireId(c.req.param("id"), "session");
      await kernel.workspaces.requireReadable(principalOf(c), sessionId);
      const expiresAt = clock.now() + LIFE_MS;
      const path = (body.path ?? "").split("/").map(encodeURIComponent).join("/");
      return {
        url: `/preview/${sign(key, sessionId, expiresAt)}/${path}`,
        expiresAt: new Date(expiresAt).toISOString(),
      };
    },
  );
  app.hono.get("/preview/:token/:path{.*}", async (c) => {
    callers.stranger(addressOf(c));
    const sessionId = verify(key, c.req.param("token") ?? "", clock.now());
    if (sessionId === undefined) throw notFound("preview");
    const path = c.req.param("path") || "index.html";
    const { mediaType, data } = await kernel.workspaces.file(sessionId, path);
    return new Response(new Uint8Array(data), {
      headers: { "Content-Type": mediaType, ...PREVIEW_HEADERS },
    });
  });
}

function sign(key: Buffer, sessionId: string, expiresAt: number): string {
  const claim = Buffer.from(`${expiresAt}.${sessionId}`).toString("base64url");
  return `${claim}.${createHmac("sha256", key).update(claim).digest("base64url")}`;
}

/** The session a token is good for; undefined when it is forged or too old. */
function verify(key: Buffer, token: string, now: number): string | undefined {
  const [claim = "", mac = ""] = token.split(".");
  const expected = createHmac("sha256", key).update(claim).digest();
  const given = Buffer.from(mac, "base64url");
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined;
  const text = Buffer.from(claim, "base64url").toString("utf8");
  const dot = text.indexOf(".");
  return Number(text.slice(0, dot)) > now ? text.slice(dot + 1) : undefined;
}

/** The web page and the API docs page, from files that were built beside this program. */
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { extname, join, normalize, sep } from "node:path";
import type { MiddlewareHandler } from "hono";
import { PAGE_KEY_HEADER, PAGE_KEY_STORAGE } from "#protocol/page-key.ts";
import type { App, AppEnv } from "./app.ts";

const TYPES: Record<string, string> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".ico": "image/x-icon",
  ".json": "application/json",
  ".map": "application/json",
  ".woff2": "font/woff2",
};

const PAGE_HEADERS = {
  "Content-Security-Policy":
    "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; connect-src 'self'; frame-src 'self'; object-src 'none'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'",
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "no-referrer",
  "X-Frame-Options": "DENY",
  "Cross-Origin-Opener-Policy": "same-origin",
};

const DOCS_PAGE = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Muster API</title><link rel="icon" href="/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/api/docs/swagger-ui.css"></head>
<body><div id="swagger-ui"></div>
<script src="/api/docs/swagger-ui-bundle.js"></script><script src="/api/docs/start.js"></script></body>
</html>`;
const DOCS_START = `SwaggerUIBundle({ url: "/api/openapi.json", dom_id: "#swagger-ui", deepLinking: true, docExpansion: "none", filter: true, requestInterceptor: (request) => { const key = localStorage.getItem("${PAGE_KEY_STORAGE}"); if (key && new URL(request.url, location.href).origin === location.origin) request.headers["${PAGE_KEY_HEADER}"] = key; return request; } });`;

export function fileRoutes(app: App, folder: string): void {
  const docs = join(folder, "docs");
  app.hono.get("/api/docs", (c) => c.html(DOCS_PAGE, 200, PAGE_HEADERS));
  app.hono.get("/api/docs/start.js", (c) =>
    c.body(DOCS_START, 200, { "Content-Type": "text/javascript", ...PAGE_HEADERS }),
  );
  app.hono.get(
    "/api/docs/:file{[\\w.-]+}",
    fileFrom(docs, (path) => path.slice("/api/docs/".length)),
  );
  const web = join(folder, "web");
  // Browsers request it wherever a page names no icon of its own.
  app.hono.get(
    "/favicon.ico",
    fileFrom(web, () => "icon.svg"),
  );
  if (existsSync(web)) app.hono.get("*", pageOrFile(web));
}

function fileFrom(folder: string, nameOf: (path: string) => string): MiddlewareHandler<AppEnv> {
  return async (c, next) => {
    const file = await readInside(folder, nameOf(c.req.path));
    if (!file) return next();
    return c.body(new Uint8Array(file.data), 200, { "Content-Type": file.type, ...PAGE_HEADERS });
  };
}

/** Addresses without a file are pages of the application, which has its own router. */
function pageOrFile(folder: string): MiddlewareHandler<AppEnv> {
  return async (c, next) => {
    const { path } = c.req;
    if (/^\/(api|mcp|webhooks|v1|metrics|health|ready|preview|\.well-known)(\/|$)/.test(path))
      return next();
    const file = await readInside(folder, path);
    const hashed = path.startsWith("/assets/");
    if (!file && (hashed || extname(path) !== "")) return next();
    const page = file ?? (await readInside(folder, "index.html"));
    if (!page) return next();
    const cache = hashed ? "public, max-age=31536000, immutable" : "no-cache";
    return c.body(new Uint8Array(page.data), 200, {
      "Content-Type": page.type,
      "Cache-Control": cache,
      ...PAGE_HEADERS,
    });
  };
}

async function readInside(
  folder: string,
  name: string,
): Promise<{ data: Buffer; type: string } | undefined> {
  let path: string;
  try {
    path = normalize(join(folder, decodeURIComponent(name)));
  } catch {
    return undefined;
  }
  const type = TYPES[extname(path)];
  if (!path.startsWith(folder + sep) || path.includes("\0") || type === undefined) return undefined;
  try {
    return { data: await readFile(path), type };
  } catch {
    return undefined;
  }
}

/**
 * Method and path of every route without its schemas, so that the client carries none into a browser.
 * The type checker compares it with the contracts: a route that is missing or differs does not compile.
 * Made by `node scripts/check/route-table.ts --write`.
 */
import type { RouteTable } from "./api-routes.ts";

export const ROUTE_TABLE = {
  prompts: {
    create: "POST /api/sessions/{id}/prompts",
    list: "GET /api/sessions/{id}/prompts",
    get: "GET /api/prompts/{id}",
    update: "PATCH /api/prompts/{id}",
    withdraw: "DELETE /api/prompts/{id}",
    promote: "POST /api/prompts/{id}/promote",
    retry: "POST /api/prompts/{id}/retry",
    redact: "POST /api/prompts/{id}/redact",
    attachment: "GET /api/prompts/{id}/attachments/{sha256}",
  },
  runners: {
    list: "GET /api/runners",
    runtimes: "GET /api/runtimes",
    models: "GET /api/models",
    disk: "GET /api/disk",
    delete: "DELETE /api/runners/{id}",
    allowUnsandboxed: "POST /api/runners/{id}/unsandboxed",
    requireSandbox: "DELETE /api/runners/{id}/unsandboxed",
    lookForSandbox: "POST /api/runners/{id}/look",
  },
  runnerTokens: {
    create: "POST /api/runners/tokens",
    list: "GET /api/runners/tokens",
    revoke: "DELETE /api/runner-tokens/{id}",
  },
  runs: {
    create: "POST /api/runs",
    list: "GET /api/runs",
    get: "GET /api/runs/{id}",
    result: "GET /api/runs/{id}/result",
    stop: "POST /api/runs/{id}/stop",
  },
  sessions: {
    create: "POST /api/sessions",
    list: "GET /api/sessions",
    get: "GET /api/sessions/{id}",
    update: "PATCH /api/sessions/{id}",
    delete: "DELETE /api/sessions/{id}",
    stop: "POST /api/sessions/{id}/stop",
    hibernate: "POST /api/sessions/{id}/hibernate",
    wake: "POST /api/sessions/{id}/wake",
    relocate: "POST /api/sessions/{id}/relocate",
    terminate: "POST /api/sessions/{id}/terminate",
    archive: "POST /api/sessions/{id}/archive",
    clear: "POST /api/sessions/{id}/clear",
    transcript: "GET /api/sessions/{id}/transcript",
    redactEntry: "POST /api/sessions/{id}/entries/{entryId}/redact",
    events: "GET /api/sessions/{id}/events",
  },
  tasks: {
    byId: "GET /api/tasks",
    list: "GET /api/sessions/{id}/tasks",
    create: "POST /api/sessions/{id}/tasks",
    ready: "GET /api/sessions/{id}/tasks/ready",
    mine: "GET /api/sessions/{id}/my-tasks",
    get: "GET /api/sessions/{id}/tasks/{taskId}",
    update: "PUT /api/sessions/{id}/tasks/{taskId}",
    delete: "DELETE /api/sessions/{id}/tasks/{taskId}",
  },
  workspaces: {
    changes: "GET /api/sessions/{id}/changes",
    createPreview: "POST /api/sessions/{id}/previews",
  },
} as const satisfies RouteTable;

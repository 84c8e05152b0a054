/** HTTP routes of workspaces: paths, inputs and answers. */
import * as z from "zod";
import { line } from "#base/text/text-schemas.ts";
import { apiRoute } from "#protocol/api-route.ts";
import { sessionChangesSchema } from "#protocol/workspaces.ts";

export const workspacesApi = {
  changes: apiRoute({
    method: "get",
    path: "/api/sessions/{id}/changes",
    summary: "Changed files of the workspace: since it was created, or by one turn",
    tag: "Workspaces",
    query: z.strictObject({ turn: line(200).min(1).optional() }),
    response: sessionChangesSchema,
  }),
  createPreview: apiRoute({
    method: "post",
    path: "/api/sessions/{id}/previews",
    summary: "Create an address, valid for an hour, that shows files of the workspace safely",
    tag: "Workspaces",
    body: z.strictObject({ path: line(4_096).min(1).optional(), scripts: z.boolean().optional() }),
    status: 201,
    response: z.object({ url: z.string(), frameUrl: z.string(), expiresAt: z.string() }),
  }),
};

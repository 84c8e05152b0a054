import * as z from "zod";
import { line } from "#base/text-schemas.ts";
import type { Kernel } from "#engine/index.ts";
import { modelOfferSchema } from "#protocol/models.ts";
import { pageOf } from "#protocol/page.ts";
import { sessionChangesSchema } from "#protocol/workspaces.ts";
import { type App, principalOf, sessionIdOf } from "../app.ts";
import { endpoint } from "../endpoint.ts";

export function workspaceRoutes(app: App, { workspaces, runners }: Kernel): void {
  endpoint(
    app,
    {
      method: "get",
      path: "/api/sessions/{id}/changes",
      summary: "What was changed in the workspace, by file: since its beginning, or by one turn",
      tag: "Workspaces",
      query: z.strictObject({ turn: line(200).min(1).optional() }),
      response: sessionChangesSchema,
    },
    ({ c, query }) => workspaces.changes(principalOf(c), sessionIdOf(c), query.turn),
  );
  endpoint(
    app,
    {
      method: "get",
      path: "/api/models",
      summary: "The models sessions can use, and what the others lack",
      tag: "Models",
      response: pageOf(modelOfferSchema),
    },
    async ({ c }) => ({ items: await runners.models(principalOf(c)), next: null }),
  );
}

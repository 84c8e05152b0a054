import type { Kernel } from "#engine/index.ts";
import { runnersApi } from "#engine/runs/contract.ts";
import { workspacesApi } from "#engine/workspaces/contract.ts";
import { type App, principalOf, sessionIdOf } from "../app.ts";
import { endpoint } from "../endpoint.ts";

export function workspaceRoutes(app: App, { workspaces, runners }: Kernel): void {
  endpoint(app, workspacesApi.changes, ({ c, query }) =>
    workspaces.changes(principalOf(c), sessionIdOf(c), query.turn),
  );
  endpoint(app, runnersApi.models, async ({ c }) => ({
    items: await runners.models(principalOf(c)),
    next: null,
  }));
}

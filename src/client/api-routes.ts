/** Every route of the API by group and name, as types: no schema reaches whoever imports this. */
import type { runnersApi, runsApi } from "#engine/runs/contract.ts";
import type { promptsApi, sessionsApi } from "#engine/sessions/contract.ts";
import type { workspacesApi } from "#engine/workspaces/contract.ts";
import type { runnerTokensApi } from "#features/auth/contract.ts";
import type { tasksApi } from "#features/tasks/contract.ts";
import type { ApiRoute } from "#protocol/api-route.ts";

export interface ApiRoutes {
  prompts: typeof promptsApi;
  runners: typeof runnersApi;
  runnerTokens: typeof runnerTokensApi;
  runs: typeof runsApi;
  sessions: typeof sessionsApi;
  tasks: typeof tasksApi;
  workspaces: typeof workspacesApi;
}

/** Method and path of a route, such as `GET /api/tasks`. */
type Address<R> =
  R extends ApiRoute<infer Method, infer Path> ? `${Uppercase<Method>} ${Path}` : never;

export type RouteTable = {
  readonly [Group in keyof ApiRoutes]: {
    readonly [Name in keyof ApiRoutes[Group]]: Address<ApiRoutes[Group][Name]>;
  };
};

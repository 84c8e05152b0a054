/** Every route of the API by group and name, as types: no schema reaches whoever imports this. */

import type { routingApi } from "#channels/routing/contract.ts";
import type { runnersApi, runsApi } from "#engine/runs/contract.ts";
import type { promptsApi, sessionsApi } from "#engine/sessions/contract.ts";
import type { workspacesApi } from "#engine/workspaces/contract.ts";
import type { approvalsApi } from "#features/approvals/contract.ts";
import type { auditApi } from "#features/audit/contract.ts";
import type { authApi, meApi, runnerTokensApi } from "#features/auth/contract.ts";
import type { briefingApi } from "#features/briefing/contract.ts";
import type { delegationApi } from "#features/delegation/contract.ts";
import type { gatewayApi } from "#features/gateway/contract.ts";
import type {
  mailboxApi,
  sessionMessagesApi,
  sessionNotificationsApi,
} from "#features/mailbox/contract.ts";
import type { inboxApi, notificationsApi } from "#features/mailbox/inbox/contract.ts";
import type { memoryApi } from "#features/memory/contract.ts";
import type { tasksApi } from "#features/tasks/contract.ts";
import type { ApiRoute } from "#protocol/api-route.ts";

export interface ApiRoutes {
  prompts: typeof promptsApi;
  runners: typeof runnersApi;
  runnerTokens: typeof runnerTokensApi;
  runs: typeof runsApi;
  sessions: typeof sessionsApi;
  approvals: typeof approvalsApi;
  audit: typeof auditApi;
  auth: typeof authApi;
  briefing: typeof briefingApi;
  delegation: typeof delegationApi;
  gateway: typeof gatewayApi;
  inbox: typeof inboxApi;
  mailbox: typeof mailboxApi;
  me: typeof meApi;
  memory: typeof memoryApi;
  notifications: typeof notificationsApi;
  routing: typeof routingApi;
  sessionMessages: typeof sessionMessagesApi;
  sessionNotifications: typeof sessionNotificationsApi;
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

/** Every route of the API by group and name, as types: importing this brings in no schema. */
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
import type { orchestratorsApi } from "#features/orchestrators/contract.ts";
import type { orgsApi } from "#features/orgs/contract.ts";
import type { personasApi } from "#features/personas/contract.ts";
import type { policyApi } from "#features/policy/contract.ts";
import type { providersApi } from "#features/providers/contract.ts";
import type { reposApi } from "#features/repos/contract.ts";
import type { searchApi } from "#features/search/contract.ts";
import type { orgSecretsApi, secretsApi } from "#features/secrets/contract.ts";
import type { storageApi } from "#features/storage/contract.ts";
import type { supervisionApi } from "#features/supervision/contract.ts";
import type { tasksApi } from "#features/tasks/contract.ts";
import type { usageApi } from "#features/usage/contract.ts";
import type { ApiRoute } from "#protocol/api-route.ts";

export interface ApiRoutes {
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
  orchestrators: typeof orchestratorsApi;
  orgs: typeof orgsApi;
  orgSecrets: typeof orgSecretsApi;
  personas: typeof personasApi;
  policy: typeof policyApi;
  prompts: typeof promptsApi;
  providers: typeof providersApi;
  repos: typeof reposApi;
  routing: typeof routingApi;
  runners: typeof runnersApi;
  runnerTokens: typeof runnerTokensApi;
  runs: typeof runsApi;
  search: typeof searchApi;
  secrets: typeof secretsApi;
  sessionMessages: typeof sessionMessagesApi;
  sessionNotifications: typeof sessionNotificationsApi;
  sessions: typeof sessionsApi;
  storage: typeof storageApi;
  supervision: typeof supervisionApi;
  tasks: typeof tasksApi;
  usage: typeof usageApi;
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

/** Every route of the API by group and name, as types: no schema reaches whoever imports this. */
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
  orchestrators: typeof orchestratorsApi;
  orgSecrets: typeof orgSecretsApi;
  orgs: typeof orgsApi;
  personas: typeof personasApi;
  policy: typeof policyApi;
  providers: typeof providersApi;
  repos: typeof reposApi;
  search: typeof searchApi;
  secrets: typeof secretsApi;
  storage: typeof storageApi;
  supervision: typeof supervisionApi;
  tasks: typeof tasksApi;
  usage: typeof usageApi;
}

/** Method and path of a route, such as `GET /api/tasks`. */
type Address<R> =
  R extends ApiRoute<infer Method, infer Path> ? `${Uppercase<Method>} ${Path}` : never;

export type RouteTable = {
  readonly [Group in keyof ApiRoutes]: {
    readonly [Name in keyof ApiRoutes[Group]]: Address<ApiRoutes[Group][Name]>;
  };
};

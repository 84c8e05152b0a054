/** Tables of the model gateway: settings, and requests under way. */
import type { Migration } from "#base/store/index.ts";
import { ddl } from "#engine/index.ts";

export interface GatewaySettingsRow {
  org_id: string;
  personal_runners: number;
  environment_keys: number;
  updated_at: number;
}

/** An admitted request that is not counted yet. The row is written before the provider is called. */
export interface GatewayCallRow {
  id: string;
  org_id: string;
  session_id: string;
  run_id: string;
  server_id: string;
  /** `provider/model`. */
  model: string;
  request_bytes: number;
  /** Minimum cost, reserved against the budget until the request is counted. */
  reserved_micros: number;
  started_at: number;
}

export interface GatewayTables {
  gateway_settings: GatewaySettingsRow;
  gateway_calls: GatewayCallRow;
}

const tables = `
create table gateway_settings (
  org_id ID primary key, personal_runners integer not null, environment_keys integer not null,
  updated_at bigint not null
);
create table gateway_calls (
  id ID primary key, org_id ID not null, session_id ID not null, run_id ID not null,
  server_id ID not null, model text not null, request_bytes bigint not null,
  reserved_micros bigint not null, started_at bigint not null
);
create index gateway_calls_session on gateway_calls (session_id);
create index gateway_calls_started on gateway_calls (started_at)
`;

export const gatewayMigrations: readonly Migration[] = [
  { id: "gateway-0001-calls", statements: (dialect) => ddl(dialect, tables) },
];

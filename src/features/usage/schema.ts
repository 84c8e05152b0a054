/**
 * Tables of usage. No session owns their rows, so the amounts stay when a session is removed. Rows of
 * long-removed sessions are aggregated by day, without loss in any total.
 */
import type { Migration } from "#base/store/index.ts";
import { ddl } from "#engine/index.ts";

export interface UsageRow {
  session_id: string;
  /** Empty: no model was used. */
  model: string;
  /** UTC, `YYYY-MM-DD`. */
  day: string;
  org_id: string;
  /** Empty: no person. */
  user_id: string;
  root_session_id: string;
  /** Empty: none. */
  persona: string;
  requests: number;
  input_tokens: number;
  cached_input_tokens: number;
  output_tokens: number;
  reasoning_tokens: number;
  cost_micros: number;
  unpriced_requests: number;
  tool_calls: number;
  turns: number;
  model_ms: number;
  tool_ms: number;
}

export const SUMMED = [
  "requests",
  "input_tokens",
  "cached_input_tokens",
  "output_tokens",
  "reasoning_tokens",
  "cost_micros",
  "unpriced_requests",
  "tool_calls",
  "turns",
  "model_ms",
  "tool_ms",
] as const satisfies readonly (keyof UsageRow)[];
export type Amounts = Pick<UsageRow, (typeof SUMMED)[number]>;

/** Usage of removed sessions, aggregated by day. */
export type UsageDayRow = Omit<UsageRow, "session_id">;

export interface UsageTables {
  usage_days: UsageDayRow;
  usage_rows: UsageRow;
}

const tables = `
create table usage_rows (
  session_id ID not null, model ID not null, day ID not null, org_id ID not null, user_id ID not null,
  root_session_id ID not null, persona ID not null,
  ${SUMMED.map((name) => `${name} bigint not null`).join(", ")},
  primary key (session_id, model, day)
);
create index usage_rows_org on usage_rows (org_id, day);
create index usage_rows_session on usage_rows (org_id, session_id);
create index usage_rows_user on usage_rows (org_id, user_id, day)
`;

/** `root_session_id` is empty when the root is removed too. */
const days = `
create table usage_days (
  org_id ID not null, day ID not null, user_id ID not null, model ID not null, persona ID not null,
  root_session_id ID not null,
  ${SUMMED.map((name) => `${name} bigint not null`).join(", ")},
  primary key (org_id, day, user_id, model, persona, root_session_id)
);
create index usage_days_user on usage_days (org_id, user_id, day)
`;

export const usageMigrations: readonly Migration[] = [
  { id: "usage-0001-rows", statements: (dialect) => ddl(dialect, tables) },
  { id: "usage-0002-days", statements: (dialect) => ddl(dialect, days) },
];

// Compares the refusal codes in the sources with the table for the API document
// (`src/surfaces/http/document/refusal-codes.ts`). With --write the table is generated again.
import { globSync, readFileSync, writeFileSync } from "node:fs";

const TABLE = "src/surfaces/http/document/refusal-codes.ts";
/** Folders whose refusals HTTP may answer with. */
const SOURCES = ["engine", "features", "channels", "surfaces/http", "surfaces/live"];

const STATUS: Record<string, number> = {
  invalid: 400,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  too_large: 413,
  unsupported: 415,
  limit: 429,
  unavailable: 503,
};

/** Codes that the pattern does not find: from `base`, or from a table in their feature. */
const FROM_TABLES: Record<string, string> = {
  json_too_deep: "invalid",
  unknown_field: "invalid",
  url_holds_credentials: "invalid",
  url_invalid: "invalid",
  json_too_many_values: "too_large",
  not_found: "not_found",
  supervisor_not_found: "not_found",
  worker_not_found: "not_found",
  address_refused: "forbidden",
  orchestration_disabled: "forbidden",
  minimal_ui_disabled: "forbidden",
  not_owner: "forbidden",
  supervisor_mode_off: "conflict",
  different_project: "conflict",
  task_settled: "conflict",
  account_taken: "conflict",
  account_limit_reached: "conflict",
  store_unavailable: "unavailable",
  disk_low: "unavailable",
  host_not_found: "unavailable",
  provider_unavailable: "unavailable",
};

/** Codes sent to runners on their socket, or at a start, and never over HTTP. */
const ELSEWHERE = new Set([
  "connection_replaced",
  "duplicate_runner",
  "identity_not_proved",
  "identity_required",
  "port_in_use",
  "protocol_unsupported",
]);

const LITERAL = /new Refusal\(\s*"(\w+)",\s*"(\w+)",/g;

const codes = new Map(Object.values(STATUS).map((status) => [status, new Set<string>()]));
const add = (kind: string, code: string) => {
  if (!ELSEWHERE.has(code)) codes.get(STATUS[kind] ?? 0)?.add(code);
};
for (const folder of SOURCES)
  for (const file of globSync(`src/${folder}/**/*.ts`)) {
    if (/\.test\.ts$|\/testing\/|\/(cli|ui)\/|\/fake-/.test(file)) continue;
    for (const [, kind = "", code = ""] of readFileSync(file, "utf8").matchAll(LITERAL))
      add(kind, code);
  }
for (const [code, kind] of Object.entries(FROM_TABLES)) add(kind, code);

const lists = [...codes].map(([status, names]) => {
  const items = [...names].toSorted().map((name) => `    "${name}",\n`);
  return `  ${status}: [\n${items.join("")}  ],\n`;
});
const wanted = `/** Codes of refusals by HTTP status. Made by \`node scripts/check/refusal-codes.ts --write\`. */
export const REFUSAL_CODES = {
${lists.join("")}} as const satisfies Record<number, readonly string[]>;

export type RefusalStatus = keyof typeof REFUSAL_CODES;
`;

// Compared as data, so that formatting does not matter.
const codesIn = (text: string) => [...text.matchAll(/"\w+"|\d{3}: /g)].map(String).join(" ");
if (process.argv.includes("--write")) writeFileSync(TABLE, wanted);
else if (codesIn(readFileSync(TABLE, "utf8")) !== codesIn(wanted)) {
  console.log(`${TABLE} is not up to date: run node scripts/check/refusal-codes.ts --write`);
  process.exit(1);
}

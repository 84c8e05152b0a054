// Writes or checks the client's table of routes (`src/client/route-table.ts`), which repeats method and
// path of every contract without its schemas. With --write the table is made anew.
import { globSync, readFileSync, writeFileSync } from "node:fs";
import type { ApiRoute } from "#protocol/api-route.ts";

const TYPES = "src/client/api-routes.ts";
const TABLE = "src/client/route-table.ts";

const types = readFileSync(TYPES, "utf8");
const imports = [...types.matchAll(/import type \{([^}]+)\} from "(#[^"]+\/contract\.ts)"/g)];
const contracts = await Promise.all(
  imports.map(async ([, , path = ""]) => (await import(path)) as Record<string, unknown>),
);
const listed = new Set(imports.map(([, , path]) => path));
const unlisted = globSync("src/**/contract.ts")
  .map((path) => path.replace(/^src\//, "#"))
  .filter((path) => !listed.has(path) && /apiRoute\(/.test(readFileSync(sourceOf(path), "utf8")));
const exported = Object.assign({}, ...contracts) as Record<string, Record<string, ApiRoute>>;

const groups = [...types.matchAll(/^ {2}(\w+): typeof (\w+);$/gm)].map(([, group, name = ""]) => {
  const routes = Object.entries(exported[name] ?? {}).map(
    ([route, { method, path }]) => `    ${route}: "${method.toUpperCase()} ${path}",\n`,
  );
  return `  ${group}: {\n${routes.join("")}  },\n`;
});

const wanted = `/**
 * Method and path of every route without its schemas, so that the client carries none into a browser.
 * The type checker compares it with the contracts: a route that is missing or differs does not compile.
 * Made by \`node scripts/check/route-table.ts --write\`.
 */
import type { RouteTable } from "./api-routes.ts";

export const ROUTE_TABLE = {
${groups.join("")}} as const satisfies RouteTable;
`;

function sourceOf(specifier: string): string {
  return specifier.replace("#", "src/");
}

if (unlisted.length > 0) {
  console.log(`${TYPES} lacks the routes of ${unlisted.join(", ")}. Add them there.`);
  process.exit(1);
}
if (process.argv.includes("--write")) writeFileSync(TABLE, wanted);
else if (readFileSync(TABLE, "utf8") !== wanted) {
  console.log(
    `${TABLE} differs from the contracts. Run: node scripts/check/route-table.ts --write`,
  );
  process.exit(1);
}

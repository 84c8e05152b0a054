// Lists every text that the product shows to a person or a model, with its file and line, by folder.
//
//   npm run texts [-- --json] [-- <part of a path>…]
import { globSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { listTexts, type ShownText } from "./texts/list-texts.ts";

/** Tests, samples and fakes are never shown. Schemas and migrations are SQL. */
const UNSHOWN =
  /\.test\.tsx?$|\.contract\.ts$|\/(samples|schema|migrations|queries|query-keys)\.ts$|-(schema|queries)\.ts$|\/fake-|\/features\/testing\//;

const args = process.argv.slice(2);
const filters = args.filter((arg) => !arg.startsWith("--"));
const texts = globSync("src/**/*.{ts,tsx}")
  .map((file) => file.replaceAll("\\", "/"))
  .filter((file) => !UNSHOWN.test(file))
  .filter((file) => filters.length === 0 || filters.some((filter) => file.includes(filter)))
  .sort()
  .flatMap((file) => listTexts(file, readFileSync(file, "utf8")));

if (args.includes("--json")) console.log(JSON.stringify(texts, null, 2));
else printByFolder(texts);

function printByFolder(all: readonly ShownText[]): void {
  const folders = Map.groupBy(all, ({ file }) => dirname(file));
  for (const [folder, items] of folders) {
    console.log(`${folder}/ (${items.length})`);
    for (const { file, line, kind, text } of items)
      console.log(`  ${file.slice(folder.length + 1)}:${line}  [${kind}]  ${text.trim()}`);
    console.log("");
  }
  console.log(`${all.length} texts`);
}

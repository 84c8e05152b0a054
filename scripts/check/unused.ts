// Finds declarations that were forgotten: columns that nothing writes or reads, indexes that no
// query can use, states that nothing produces, settings that nothing reads. It reads the sources'
// syntax and compares names, so it misses a column whose name another table uses; each finding is
// real, or listed below with a reason.
import { globSync, readFileSync } from "node:fs";
import ts from "typescript-compiler-api";
import { findUnused } from "./find-unused.ts";

/** Accepted findings, with the reason. */
const KNOWN: Readonly<Record<string, string>> = {
  "column notification_preferences.slack": "read by the name of its channel",
  "column notification_preferences.telegram": "read by the name of its channel",
  "index messages_context_session":
    "used by the purge of sessions, which names columns in sessionTables",
  "column outbox.last_error": "for whoever looks into a delivery that was put aside",
  "column outbox.delivered_at": "for whoever looks into a delivery",
  "state RUN_TYPES start_session": "said by clients",
};

const files = globSync("src/**/*.{ts,tsx}").filter((file) => !isForTests(file));
const sources = files.map((file) => ({
  file,
  tree: ts.createSourceFile(file, readFileSync(file, "utf8"), ts.ScriptTarget.Latest, true),
}));
const found = findUnused(sources);

const known = (line: string) => Object.keys(KNOWN).some((name) => line.startsWith(`${name} `));
const findings = found.filter((line) => !known(line));
for (const line of findings) console.log(line);
for (const name of Object.keys(KNOWN))
  if (!found.some((line) => line.startsWith(`${name} `)))
    console.log(`note: ${name} is fine by now; take it out of KNOWN`);
if (findings.length > 0) process.exit(1);

function isForTests(file: string): boolean {
  return /\.test\.tsx?$|\/testing\/|\/fake-|\.contract\.ts$|\/samples\.ts$/.test(file);
}

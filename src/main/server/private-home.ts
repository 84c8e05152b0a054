/** Ensures that nobody else can read or replace the server's files on this machine. */
import { readdirSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import type { Config } from "#base/config.ts";
import {
  ensurePrivateFile,
  ensurePrivateFolder,
  requireSafeFolder,
} from "#base/machine/private-files.ts";

const OWN_FILES = [
  "owner.key",
  "secret.key",
  "runner.token",
  "audit.head",
  "restored.json",
  "muster.config.json",
];

/** Called before any secret is read from the folder, and before anything is written to it. */
export function ensurePrivateHome({
  home,
  databaseUrl,
}: Pick<Config, "home" | "databaseUrl">): void {
  ensurePrivateFolder(home);
  for (const name of OWN_FILES) ensurePrivateFile(join(home, name));
  if (!databaseUrl.startsWith("sqlite:") || databaseUrl === "sqlite::memory:") return;
  ensurePrivateDatabase(resolve(databaseUrl.slice("sqlite:".length)));
}

/** The database, its log and lock, and the copies beside it. */
function ensurePrivateDatabase(path: string): void {
  const folder = dirname(path);
  const name = basename(path);
  for (const entry of entriesOf(folder))
    if (entry === name || entry.startsWith(`${name}-`) || entry.startsWith(`${name}.`))
      ensurePrivateFile(join(folder, entry));
}

function entriesOf(folder: string): string[] {
  try {
    requireSafeFolder(folder);
    return readdirSync(folder);
  } catch (error) {
    // The store creates the folder.
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

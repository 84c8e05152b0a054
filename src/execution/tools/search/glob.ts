/**
 * The glob tool: walks the workspace from the runner, folder by open folder, and never through a
 * link. The cost of a walk is bounded, whatever an agent has put there.
 */
import type { Dirent } from "node:fs";
import { lstat } from "node:fs/promises";
import { posix } from "node:path";
import { globInput } from "#protocol/tools.ts";
import {
  type ConfinedFiles,
  type ConfinedPath,
  childPath,
  enterFolder,
  type Folder,
  filesOf,
  listFolder,
} from "../files/confined-files.ts";
import { createTool, errnoOf, ToolProblem } from "../perform-tool.ts";
import type { RunnerTool } from "../tool.ts";
import { GlobPattern, type GlobStates } from "./glob-pattern.ts";

const MAX_RESULTS = 1000;
const MAX_ENTRIES = 200_000;
/** Every folder on the way down is open. */
const MAX_DEPTH = 64;
/** Folders that are not entered unless the pattern names them. */
export const SKIPPED_FOLDERS: readonly string[] = [".git", "node_modules"];

interface Found {
  names: readonly string[];
  modifiedAt: number;
}

export function createGlobTool(): RunnerTool {
  return createTool("glob", globInput, async (context, input) => {
    const files = filesOf(await context.workspace());
    const { place, pattern } = splitPattern(files, input.pattern, input.path ?? ".");
    const parsed = GlobPattern.parse(pattern);
    if (!parsed) throw new ToolProblem("The pattern has too many alternatives. Use several calls.");
    const opened = await files.open(posix.join(place.root.inside, ...place.names));
    if (opened.kind === "file") {
      await opened.handle.close();
      throw new ToolProblem(`${opened.shown} is a file. Name a folder to search in.`);
    }
    const skipped = SKIPPED_FOLDERS.filter((name) => !pattern.split("/").includes(name));
    const walk = new Walk(parsed, skipped, context.signal);
    await walk.enter(opened.folder, [], parsed.begin());
    return { output: describe(walk, files, opened.place), error: null };
  });
}

/** Splits a pattern, which may be absolute, into the folder before its first wildcard and the rest. */
function splitPattern(files: ConfinedFiles, pattern: string, path: string) {
  if (!pattern.startsWith("/")) {
    if (pattern.split("/").includes("..")) {
      throw new ToolProblem("A pattern cannot contain “..”. Name the folder to search with path.");
    }
    return { place: files.locate(path), pattern };
  }
  const parts = pattern.split("/");
  const plain = parts.findIndex((part) => /[*?[{\\]/.test(part));
  const end = plain < 0 ? parts.length - 1 : plain;
  return {
    place: files.locate(parts.slice(0, end).join("/") || "/"),
    pattern: parts.slice(end).join("/"),
  };
}

class Walk {
  readonly found: Found[] = [];
  isCut = false;
  readonly #pattern: GlobPattern;
  readonly #skipped: readonly string[];
  readonly #signal: AbortSignal;
  #entries = 0;

  constructor(pattern: GlobPattern, skipped: readonly string[], signal: AbortSignal) {
    this.#pattern = pattern;
    this.#skipped = skipped;
    this.#signal = signal;
  }

  /** Walks a folder, and closes it. */
  async enter(folder: Folder, names: readonly string[], states: GlobStates): Promise<void> {
    try {
      const left = MAX_ENTRIES - this.#entries;
      const entries = left > 0 && !this.#signal.aborted ? await listFolder(folder, left) : [];
      this.#entries += entries.length;
      if (entries.length >= left || this.#signal.aborted) this.isCut = true;
      for (const entry of entries) await this.#look(folder, entry, names, states);
    } finally {
      await folder.handle.close();
    }
  }

  async #look(folder: Folder, entry: Dirent, names: readonly string[], states: GlobStates) {
    const next = this.#pattern.step(states, entry.name);
    if (next.length === 0) return;
    const path = [...names, entry.name];
    if (!entry.isDirectory()) {
      if (this.#pattern.isMatch(next)) await this.#keep(folder, path, entry.name);
      return;
    }
    if (this.#skipped.includes(entry.name)) return;
    if (path.length >= MAX_DEPTH) {
      this.isCut = true;
      return;
    }
    const child = await enterFolder(folder, entry.name).catch(noneIfGone);
    if (child) await this.enter(child, path, next);
  }

  async #keep(folder: Folder, names: readonly string[], name: string): Promise<void> {
    const stats = await lstat(childPath(folder, name)).catch(noneIfGone);
    if (stats) this.found.push({ names, modifiedAt: stats.mtimeMs });
  }
}

/** Skips a file that vanished, became a link or may not be read. */
function noneIfGone(error: unknown): null {
  if (["ENOENT", "ELOOP", "ENOTDIR", "EACCES"].includes(errnoOf(error) ?? "")) return null;
  throw error;
}

function describe(walk: Walk, files: ConfinedFiles, place: ConfinedPath): string {
  const newest = walk.found.sort((a, b) => b.modifiedAt - a.modifiedAt).slice(0, MAX_RESULTS);
  const lines = newest.map(({ names }) =>
    files
      .show({ root: place.root, names: [...place.names, ...names] })
      // A name with a newline in it must not pass for two.
      .replaceAll("\n", "\\n"),
  );
  if (walk.found.length > MAX_RESULTS) {
    lines.push(`[… ${walk.found.length - MAX_RESULTS} older ones left out: narrow the pattern …]`);
  }
  if (walk.isCut) lines.push("[… not everything was searched: name a folder with path …]");
  return lines.join("\n") || "No files match.";
}

/**
 * The grep tool: ripgrep in the sandbox if installed, else grep. The pattern is the agent's, so it
 * runs where the agent's commands run; it is never an option, whatever it begins with.
 */
import type * as z from "zod";
import { isSecretPath } from "#protocol/names/secret-paths.ts";
import { grepInput } from "#protocol/tools.ts";
import { readCommand } from "../commands/command-output.ts";
import { filesOf } from "../files/confined-files.ts";
import { TailBuffer } from "../output/output-buffer.ts";
import { createTool, ToolProblem } from "../perform-tool.ts";
import type { RunnerTool, ToolOutcome } from "../tool.ts";
import { SKIPPED_FOLDERS } from "./glob.ts";
import { expandBraces, GlobPattern } from "./glob-pattern.ts";
import { type FoundLine, GrepLines } from "./grep-lines.ts";

const DEFAULT_LIMIT = 200;
const TIMEOUT_MS = 60_000;
const MAX_ERROR_BYTES = 2000;

/**
 * The first argument is the number of ripgrep's arguments among the others. Grep reads most
 * patterns of models (`\\d`, `\\b`) only as a Perl expression, which not every grep supports.
 */
const SCRIPT = `
count=$1; shift
if command -v rg >/dev/null 2>&1; then exec rg "\${@:1:count}"; fi
kind=-P; grep -P x </dev/null >/dev/null 2>&1; [ $? -gt 1 ] && kind=-E
exec grep "$kind" "\${@:count+1}"`;

type GrepInput = z.infer<typeof grepInput>;

export function createGrepTool(): RunnerTool {
  return createTool("grep", grepInput, async (context, input) => {
    const workspace = await context.workspace();
    const files = filesOf(workspace);
    const place = files.locate(input.path ?? ".");
    const shown = files.show(place);
    if (/[\n\0]/.test(input.pattern)) {
      throw new ToolProblem(
        "The pattern has more than one line, but files are searched line by line.",
      );
    }
    const target = shown.startsWith("/") ? shown : `./${shown}`;
    const lines = new GrepLines(input.limit ?? DEFAULT_LIMIT, fileFilter(input, shown));
    const errors = new TailBuffer(MAX_ERROR_BYTES);
    const process = workspace.sandbox.run({
      argv: composeArguments(input, target),
      signal: context.signal,
      timeoutMs: TIMEOUT_MS,
    });
    const end = await readCommand(process, {
      stdout(chunk) {
        lines.take(chunk);
        if (lines.isFull) process.kill();
      },
      stderr: (chunk) => errors.push(chunk),
    });
    if (end.killedBy === "timeout") {
      throw new ToolProblem(
        `The search took more than ${TIMEOUT_MS / 1000} s. Name a folder with path.`,
      );
    }
    if (context.signal.aborted) throw new ToolProblem("The search was stopped.");
    // Both programs also exit with 2 when a single file could not be read.
    if (lines.found.length === 0 && end.exitCode !== 0 && end.exitCode !== 1) {
      throw new ToolProblem(`The search failed: ${errors.contents().toString().trim()}`);
    }
    return describe(lines);
  });
}

function composeArguments(input: GrepInput, target: string): string[] {
  const named = `${input.path ?? ""}/${input.glob ?? ""}`.split("/");
  const skipped = SKIPPED_FOLDERS.filter((name) => !named.includes(name));
  const shared = [
    ...(input.ignoreCase ? ["--ignore-case"] : []),
    ...(input.context ? [`--context=${input.context}`] : []),
    "--line-number",
    "--with-filename",
    "--null",
    "--color=never",
  ];
  const pattern = [`--regexp=${input.pattern}`, "--", target];
  const rg = [
    ...["--no-config", "--no-heading", "--hidden", "--sort=path", ...shared],
    ...(input.glob ? [`--glob=${input.glob}`] : []),
    ...skipped.map((name) => `--glob=!**/${name}/**`),
    ...pattern,
  ];
  const grep = [
    ...["--recursive", "--binary-files=without-match", "--devices=skip", ...shared],
    ...(input.glob ? includesOf(input.glob) : []),
    ...skipped.map((name) => `--exclude-dir=${name}`),
    ...pattern,
  ];
  return ["bash", "-c", SCRIPT, "bash", String(rg.length), ...rg, ...grep];
}

/** Grep matches the last part of a path only, and knows no braces. */
function includesOf(glob: string): string[] {
  const names = (expandBraces(glob) ?? []).map((one) => one.split("/").at(-1) ?? "");
  return names.some((name) => name === "" || name === "**")
    ? []
    : names.map((name) => `--include=${name}`);
}

/** True if a found file matches the glob, its folders included; ripgrep has checked already. */
function fileFilter({ glob, path = "" }: GrepInput, shown: string): (path: string) => boolean {
  const fits = globFilter(glob, shown);
  // A search must not find by the way a file that policy asks about when it is named.
  const wantsSecrets = isSecretPath(path) || isSecretPath(glob ?? "");
  return (found) => fits(found) && (wantsSecrets || !isSecretPath(found));
}

function globFilter(glob: string | undefined, shown: string): (path: string) => boolean {
  if (glob === undefined || !glob.includes("/")) return () => true;
  const pattern = GlobPattern.parse(glob.replace(/^\//, ""));
  if (!pattern) throw new ToolProblem("The glob has too many alternatives. Use several calls.");
  const start = shown === "." ? "" : `${shown}/`;
  return (path) =>
    pattern.matches(path) || (path.startsWith(start) && pattern.matches(path.slice(start.length)));
}

function describe({ found, isFull }: GrepLines): ToolOutcome {
  if (found.length === 0) return { output: "No matches.", error: null };
  const lines = found.map(showLine);
  if (isFull) lines.push("[… there may be more: narrow the search, or raise limit …]");
  return { output: lines.join("\n"), error: null };
}

function showLine(line: FoundLine): string {
  if (line === "gap") return "--";
  // A name with a newline in it must not pass for a line of its own.
  const path = line.path.replaceAll("\n", "\\n");
  return line.isMatch
    ? `${path}:${line.number}: ${line.text}`
    : `${path}-${line.number}- ${line.text}`;
}

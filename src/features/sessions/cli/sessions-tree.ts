import type { Command } from "commander";
import { systemClock } from "#base/clock.ts";
import type { Api } from "#surfaces/cli/client/api.ts";
import { followHints } from "#surfaces/cli/client/follow-hints.ts";
import { EXIT } from "#surfaces/cli/kit/exit-codes.ts";
import { findSessionId } from "#surfaces/cli/kit/find-session.ts";
import type { CliHost } from "#surfaces/cli/kit/host.ts";
import { DONE, type Ending, type Invocation, perform } from "#surfaces/cli/kit/invocation.ts";
import { columnsOf, jsonText, styleFor } from "#surfaces/cli/kit/text/terminal.ts";
import { widthOf } from "#surfaces/cli/kit/text/text-width.ts";
import { createRefresh } from "./chat/refresh.ts";
import { erase } from "./chat/terminal/screen.ts";
import { readTrees, type TreeQuery } from "./tree/read-tree.ts";
import { drawTree, type TreeNode } from "./tree/session-tree.ts";

/** Hints come in bursts; people read slowly. */
const BETWEEN_LOOKS_MS = 300;
const DEFAULT_ROWS = 24;

interface TreeOptions {
  watch?: boolean;
  all?: boolean;
}

export function addSessionsTreeCommand(group: Command, host: CliHost): void {
  group
    .command("tree")
    .description("Show your orchestrator and other parent sessions with their children.")
    .argument("[session]", "only this session and its children")
    .option("--watch", "keep showing changes until Ctrl-C")
    .option("--all", "include archived and terminated ones")
    .action((id: string | undefined, options: TreeOptions, command: Command) =>
      perform(host, command, (invocation) => showTree(invocation, id, options)),
    );
}

async function showTree(
  invocation: Invocation,
  which: string | undefined,
  { watch, all = false }: TreeOptions,
): Promise<Ending> {
  const api = invocation.api();
  const rootId = which === undefined ? undefined : await findSessionId(api, which);
  const query = { rootId, all };
  if (watch) return watchTree(invocation, api, query);
  const trees = await readTrees(api, query);
  invocation.print({ items: trees }, linesOf(invocation.host, trees));
  return DONE;
}

/** Refreshes at every hint, never by the clock. */
async function watchTree(invocation: Invocation, api: Api, query: TreeQuery): Promise<Ending> {
  const { host } = invocation;
  const stop = new AbortController();
  const dispose = host.onInterrupt(() => stop.abort());
  const show = createPicture(invocation);
  let failure: unknown;
  let trees = await readTrees(api, query);
  show(trees);
  const redraw = () => show(trees);
  const look = createRefresh(async () => {
    trees = await readTrees(api, query);
    if (!stop.signal.aborted) show(trees);
    await systemClock.sleep(BETWEEN_LOOKS_MS, stop.signal);
  });
  host.stdout.on?.("resize", redraw);
  try {
    await followHints(
      api,
      (hinted) => {
        if (hinted.type === "away") return;
        if (hinted.type === "hint" && hinted.kind !== "session") return;
        look().catch((error: unknown) => {
          failure = error;
          stop.abort();
        });
      },
      stop.signal,
    );
  } finally {
    host.stdout.off?.("resize", redraw);
    dispose();
  }
  if (failure !== undefined) throw failure;
  return EXIT.ok;
}

/** Draws the tree: in place on a terminal; elsewhere each changed picture follows the last. */
function createPicture({ host, json }: Invocation): (trees: readonly TreeNode[]) => void {
  const isInPlace = host.stdout.isTTY === true && !json && host.env.TERM !== "dumb";
  let last = "";
  let drawn: number[] = [];
  return (trees) => {
    const all = json ? [jsonText({ items: trees })] : linesOf(host, trees);
    const lines = isInPlace ? cut(all, (host.stdout.rows ?? DEFAULT_ROWS) - 1) : all;
    const text = lines.join("\n");
    if (text === last) return;
    const before =
      isInPlace && drawn.length > 0
        ? erase({ widths: drawn, cursorRow: drawn.length }, columnsOf(host.stdout))
        : "";
    const between = !isInPlace && !json && last !== "" ? "\n" : "";
    host.stdout.write(`${before}${between}${text}\n`);
    last = text;
    drawn = lines.map(widthOf);
  };
}

function cut(lines: readonly string[], rows: number): string[] {
  if (lines.length <= rows) return [...lines];
  const shown = Math.max(1, rows - 1);
  return [...lines.slice(0, shown), `… ${lines.length - shown} more`];
}

function linesOf(host: CliHost, trees: readonly TreeNode[]): string[] {
  if (trees.length === 0)
    return ["No session has children. Talk to your orchestrator with: muster chat"];
  const style = styleFor(host.stdout, host.env);
  // After a full row, terminals differ in where the next one begins.
  const columns = columnsOf(host.stdout) - 1;
  return trees.flatMap((tree) => drawTree(tree, { columns, style, hasIds: true }));
}

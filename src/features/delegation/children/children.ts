/** Views of children for their parent and for other readers. */
import type { Reader } from "#base/store/index.ts";
import type { SessionRow } from "#engine/index.ts";
import {
  describeSessions,
  entryView,
  findLastEntry,
  type ReadContext,
  viewSession,
} from "#engine/sessions/index.ts";
import { findWorkspace } from "#engine/workspaces/index.ts";
import type { Entry, Session } from "#protocol/sessions.ts";
import type { WorkspaceChanges } from "#protocol/workspaces.ts";
import type { Child } from "../contract.ts";
import { firstLine } from "../notify/words.ts";
import { type Plan, readPlans, viewPlan } from "../plans/plan.ts";

const MAX_LINE_CHARS = 160;

/** State of a child, from its own row alone. */
export function viewChild(
  row: Pick<SessionRow, "lifecycle" | "run_state" | "last_outcome" | "awaiting" | "waiting">,
) {
  return viewSession({
    lifecycle: row.lifecycle,
    runState: row.run_state,
    lastOutcome: row.last_outcome,
    awaiting: row.awaiting === 1,
    queued: row.waiting,
  });
}

export async function describeChildren(
  context: ReadContext,
  rows: readonly SessionRow[],
): Promise<Child[]> {
  const { reader } = context;
  const sessions = await describeSessions(context, rows);
  const plans = await readPlans(reader, rows);
  const children: Child[] = [];
  for (const [at, row] of rows.entries())
    children.push(await childOf(reader, row, sessions[at] as Session, plans.get(row.id)));
  return children;
}

export async function describeChild(context: ReadContext, row: SessionRow): Promise<Child> {
  const [child] = await describeChildren(context, [row]);
  return child as Child;
}

async function childOf(
  reader: Reader,
  row: SessionRow,
  session: Session,
  plan: Plan | undefined,
): Promise<Child> {
  const { activity, status, waitingFor, lastError, persona, personaVersion, model, updatedAt } =
    session;
  return {
    sessionId: row.id,
    title: row.title,
    lifecycle: row.lifecycle,
    activity,
    waitingFor,
    status,
    lastError,
    persona,
    personaVersion,
    model,
    state: viewChild(row).worker,
    doing: await lastLine(reader, row.id),
    repo: row.repo,
    branch: row.branch,
    changedFiles: await countChangedFiles(reader, row.id),
    cost: row.cost_unknown === 1 ? null : row.cost_micros,
    messages: Number(row.messages_total),
    ...viewPlan(plan),
    lastActivityAt: updatedAt,
  };
}

async function countChangedFiles(reader: Reader, sessionId: string): Promise<number | null> {
  const changes = await findChanges(reader, sessionId);
  return changes && changes.files.length + changes.more;
}

/** Changes reported by the child's turns; null if no turn has reported any. */
export async function findChanges(
  reader: Reader,
  sessionId: string,
): Promise<WorkspaceChanges | null> {
  const changes = (await findWorkspace(reader, sessionId))?.changes;
  return changes ? (JSON.parse(changes) as WorkspaceChanges) : null;
}

export async function lastLine(reader: Reader, sessionId: string): Promise<string | null> {
  const row = await findLastEntry(reader, sessionId);
  return row ? lineOf(entryView(row)) : null;
}

/** One line for an entry: the tool and its target, or the start of the text. */
export function lineOf({ kind, text, tool }: Pick<Entry, "kind" | "text" | "tool">): string {
  if (tool) {
    const input = tool.verdict?.target ?? "";
    const verb = kind === "tool_result" ? "did" : "does";
    const words = input === "" ? `${verb} ${tool.name}` : `${verb} ${tool.name}: ${input}`;
    return firstLine(words, MAX_LINE_CHARS);
  }
  return firstLine(text ?? "", MAX_LINE_CHARS);
}

/** Material of a turn, requested by its runner or sent along: earlier entries, the brief, and blobs. */
import { createHash } from "node:crypto";
import { setImmediate as loopTurns } from "node:timers/promises";
import type { Reader } from "#base/store/index.ts";
import type { Briefer, Registrar } from "#engine/feature.ts";
import type { EventRow, PromptRow, RunnerRow, RunRow, SessionRow } from "#engine/schema.ts";
import { findBlob, keepBlob } from "#engine/sessions/log/blob-queries.ts";
import { listHistory } from "#engine/sessions/log/event-queries.ts";
import { findPrompt } from "#engine/sessions/prompts/prompt-queries.ts";
import { findLocalTimeSettings } from "#engine/sessions/purge/person-queries.ts";
import { findSession, findThread, listSessionLifecycles } from "#engine/sessions/queries.ts";
import type { Engine } from "#engine/work.ts";
import type { BriefText, HistoryItem, HistoryPage, Material } from "#protocol/frames.ts";
import { type Attachment, type Author, isOrchestrator } from "#protocol/sessions.ts";
import { journalItem } from "../journal/journal-items.ts";
import { findRun } from "../queries.ts";

const MAX_HISTORY = 200;
/** Limit of a page, which must fit a frame, whatever tools have written. */
const MAX_HISTORY_CHARS = 4_000_000;
/** Limit of material in an assignment: a run that is given back must not waste much reading. */
const MAX_GIVEN_CHARS = 200_000;

/** Entries before the turn, newest page first, without what was summed up or cleared. */
export function readHistory(
  engine: Engine,
  { sessionId, thread: name }: { sessionId: string; thread: string },
  runId: string,
  beforeSeq: number | null,
  limit: number,
): Promise<HistoryPage> {
  return engine.store.read(async (reader) => {
    const current = await findRun(reader, runId);
    const before = Math.min(beforeSeq ?? Number.MAX_SAFE_INTEGER, current?.first_seq ?? 0);
    const place = { sessionId, thread: name, before, limit: Math.min(limit, MAX_HISTORY) };
    return pageBefore(reader, place, MAX_HISTORY_CHARS, engine.clock.now());
  });
}

async function pageBefore(
  reader: Reader,
  place: { sessionId: string; thread: string; before: number; limit: number },
  maxChars: number,
  now: number,
): Promise<HistoryPage> {
  const thread = await findThread(reader, place.sessionId, place.thread);
  const after = Math.max(thread?.context_after_seq ?? 0, thread?.summary_through_seq ?? 0);
  const rows = await listHistory(reader, { ...place, after });
  const items = newestWithin(rows, maxChars).map(historyItem);
  const more = items.length < rows.length || rows.length === place.limit;
  const summaryDue = (thread?.summary_retry_at ?? 0) <= now;
  return { items, more, summary: thread?.summary ?? null, summaryDue };
}

/** At least one row, and then as many of the newest as fit. */
function newestWithin(rows: readonly EventRow[], maxChars: number): EventRow[] {
  let chars = 0;
  let count = 0;
  for (const row of rows.toReversed()) {
    chars += charsOf(row);
    if (count > 0 && chars > maxChars) break;
    count += 1;
  }
  return rows.slice(rows.length - count);
}

function charsOf({ content, tool_input, tool_output, error }: EventRow): number {
  const texts = [content, tool_input, tool_output, error];
  return texts.reduce((sum, text) => sum + (text?.length ?? 0), 0);
}

interface PromptData {
  author?: Author;
  attachments?: Attachment[];
}

function historyItem(row: EventRow): HistoryItem {
  const item = journalItem(row);
  const { author, attachments = [] } = JSON.parse(row.data ?? "{}") as PromptData;
  const isPrompt = row.kind === "prompt" && author !== undefined && item.type === "message";
  return {
    seq: row.seq,
    role: row.role ?? "system",
    promptId: row.prompt_id,
    item: isPrompt ? { type: "prompt" as const, text: item.text, author, attachments } : item,
  };
}

/** Functions of features that provide an agent's material. */
export interface Briefing {
  briefers: readonly Briefer[];
  registrars: readonly Registrar[];
  /** True when some feature may have a brief for the session. */
  hasBrief(session: SessionRow): boolean;
}

/** Merges the briefs of all features. */
export function readBrief(
  engine: Engine,
  { briefers, registrars }: Briefing,
  { sessionId, promptId }: { sessionId: string; promptId: string },
): Promise<BriefText & { register: string | null }> {
  return engine.store.read(async (reader) => {
    const session = await findSession(reader, sessionId);
    const prompt = session && (await findPrompt(reader, promptId));
    if (!session || !prompt) return { ...nothingToRead(), register: null };
    const brief = await briefOf(reader, briefers, session, prompt);
    return { ...brief, register: await registerOf(reader, registrars, session, prompt.thread) };
  });
}

function nothingToRead(): BriefText {
  return { instructions: [], files: [], setup: null, identity: null, recall: [] };
}

async function briefOf(
  reader: Reader,
  briefers: readonly Briefer[],
  session: SessionRow,
  prompt: PromptRow,
): Promise<BriefText> {
  const brief = nothingToRead();
  for (const give of briefers) {
    const given = await give(reader, session, prompt);
    brief.instructions.push(...(given?.instructions ?? []));
    brief.files.push(...(given?.files ?? []));
    brief.setup ??= given?.setup ?? null;
    brief.recall.push(...(given?.recall ?? []));
    brief.identity ??= given?.identity ?? null;
  }
  return brief;
}

async function registerOf(
  reader: Reader,
  registrars: readonly Registrar[],
  session: SessionRow,
  thread: string,
): Promise<string | null> {
  const parts: string[] = [];
  for (const register of registrars) {
    const part = await register(reader, session, thread);
    if (part !== null) parts.push(part);
  }
  return parts.length === 0 ? null : parts.join("\n\n");
}

/** Reads the answers to the first questions of a turn. The rows are as they stand after its claim. */
export async function readMaterial(
  reader: Reader,
  { briefers, registrars }: Briefing,
  { session, run, prompt }: { session: SessionRow; run: RunRow; prompt: PromptRow },
  needs: { brief: boolean; history: boolean },
): Promise<Material> {
  const before = { sessionId: session.id, thread: run.thread, before: run.first_seq };
  const history = needs.history
    ? await pageBefore(
        reader,
        { ...before, limit: MAX_HISTORY },
        MAX_GIVEN_CHARS,
        run.claimed_at ?? 0,
      )
    : null;
  const place =
    session.owner_id === null ? null : await findLocalTimeSettings(reader, session.owner_id);
  const material: Material = {
    ...(history && { history }),
    ...(place && { time: { at: run.claimed_at ?? 0, ...place } }),
  };
  if (!needs.brief) return material;
  const brief = await briefOf(reader, briefers, session, prompt);
  if (charsOfBrief(brief) > MAX_GIVEN_CHARS) return material;
  // Without a summary or hidden entries nobody needs the register, which is the most expensive
  // part.
  const isShort = history === null || (history.summary === null && !history.more);
  const register = isShort
    ? {}
    : { register: await registerOf(reader, registrars, session, run.thread) };
  return { ...material, brief: { ...brief, ...register } };
}

function charsOfBrief({ instructions, files }: BriefText): number {
  return [...instructions, ...files].reduce((sum, { content }) => sum + content.length, 0);
}

/** Megabytes are decoded, hashed and written in three steps, so that other work runs in between. */
export async function storeBlob(
  engine: Engine,
  { orgId, sessionId }: { orgId: string; sessionId: string },
  mediaType: string,
  base64: string,
): Promise<{ sha256: string }> {
  const data = Buffer.from(base64, "base64");
  await loopTurns();
  const sha256 = createHash("sha256").update(data).digest("hex");
  await loopTurns();
  return engine.store.transaction(async (tx) => {
    const blob = { org_id: orgId, sha256, size: data.length, media_type: mediaType, data };
    await keepBlob(tx, { ...blob, created_at: tx.now }, sessionId);
    return { sha256 };
  });
}

export async function fetchBlob(
  engine: Engine,
  sessionId: string,
  sha256: string,
): Promise<{ sha256: string; mediaType: string; data: string | null }> {
  const blob = await engine.store.read((reader) => findBlob(reader, sessionId, sha256));
  return {
    sha256,
    mediaType: blob?.media_type ?? "application/octet-stream",
    data: blob ? Buffer.from(blob.data).toString("base64") : null,
  };
}

/** Sorts out which of these sessions are resting and which are gone for good; others may be at work. */
export function classifySessions(
  engine: Engine,
  { id: runnerId, org_id: orgId }: RunnerRow,
  sessions: readonly string[],
): Promise<{ resting: string[]; gone: string[] }> {
  return engine.store.read(async (reader) => {
    const rows = await listSessionLifecycles(reader, orgId, sessions);
    const byId = new Map(rows.map((row) => [row.id, row]));
    const resting: string[] = [];
    const gone: string[] = [];
    for (const id of sessions) {
      const session = byId.get(id);
      // Files that another machine took over are of no use here any more.
      const isElsewhere =
        session &&
        session.runner_id !== null &&
        (session.runner_id !== runnerId || session.left_at !== null);
      // A terminated session does not come back, so its files may go; orchestrators do.
      const isEnded = session?.lifecycle === "terminated" && !isOrchestrator(session);
      if (!session || isElsewhere || isEnded) gone.push(id);
      else if (session.lifecycle !== "active") resting.push(id);
    }
    return { resting, gone };
  });
}

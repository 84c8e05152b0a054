/** Reads prompts: receipts, the queue, attachments. */
import { notFound } from "#base/refusal.ts";
import type { Reader } from "#base/store/index.ts";
import { decodeCursor, pageOf } from "#engine/requests/cursor.ts";
import type { Principal } from "#engine/requests/principal.ts";
import { matchRunners, takeoverAt } from "#engine/runs/claims/runner-match.ts";
import { listLiveRuns } from "#engine/runs/queries.ts";
import type { RunnerAvailability } from "#engine/runs/runners/runner-capabilities.ts";
import { listRunnerAvailability } from "#engine/runs/runners/runner-queries.ts";
import type { PromptRow, RunRow } from "#engine/schema.ts";
import type { Engine } from "#engine/work.ts";
import type { Page } from "#protocol/page.ts";
import type { Prompt, PromptState } from "#protocol/sessions.ts";
import { findBlob } from "../log/blob-queries.ts";
import { findSession } from "../queries.ts";
import { requireReadable } from "../session-access.ts";
import { promptView } from "../views.ts";
import {
  countAhead,
  findPrompt,
  listPrompts,
  listWaiting,
  listWaitingIds,
} from "./prompt-queries.ts";

export interface PromptQuery {
  states?: readonly PromptState[] | undefined;
  cursor?: string | undefined;
  limit: number;
}

const LIST = "prompts";

export function createPromptReads({ store, clock }: Engine) {
  async function readable(reader: Reader, principal: Principal, id: string): Promise<PromptRow> {
    const row = await findPrompt(reader, id);
    const session = row && (await findSession(reader, row.session_id));
    await requireReadable(reader, principal, session, clock.now(), "prompt");
    return row as PromptRow;
  }

  return {
    get: (principal: Principal, id: string): Promise<Prompt> =>
      store.read(async (reader) => {
        const row = await readable(reader, principal, id);
        if (row.state === "settled") return promptView(row);
        const ahead = row.state === "queued" ? await countAhead(reader, row) : 0;
        const context = await readQueueContext(reader, row.session_id, row.org_id);
        return receipt(row, context, ahead, clock.now());
      }),

    list(principal: Principal, sessionId: string, query: PromptQuery): Promise<Page<Prompt>> {
      const before = decodeCursor(LIST, query.cursor);
      return store.read(async (reader) => {
        const found = await findSession(reader, sessionId);
        const { session } = await requireReadable(reader, principal, found, clock.now());
        const page = isQueue(query.states)
          ? await queuePage(reader, sessionId, query.states, query.limit)
          : await historyPage(reader, sessionId, query, before);
        const context = await readQueueContext(reader, sessionId, session.org_id);
        const order = new Map((await listWaitingIds(reader, sessionId)).map((id, at) => [id, at]));
        const now = clock.now();
        const items = page.items.map((row) => receipt(row, context, order.get(row.id) ?? 0, now));
        return { items, next: page.next };
      });
    },

    /** An attachment of a prompt the caller may see. */
    attachment: (principal: Principal, promptId: string, sha256: string) =>
      store.read(async (reader) => {
        const row = await readable(reader, principal, promptId);
        const attached = JSON.parse(row.attachments) as Prompt["attachments"];
        const named = attached.find((item) => item.sha256 === sha256);
        const blob = named && (await findBlob(reader, row.session_id, sha256));
        if (!blob) throw notFound("attachment");
        return { name: named.name, mediaType: named.mediaType, data: blob.data };
      }),
  };
}

interface QueueContext {
  live: readonly RunRow[];
  /** Read only when a run waits for a runner, or a runner holds it. */
  runners: readonly RunnerAvailability[];
}

/** Reads what explains why the prompts of a session wait, once for all of them. */
async function readQueueContext(
  reader: Reader,
  sessionId: string,
  orgId: string,
): Promise<QueueContext> {
  const live = await listLiveRuns(reader, sessionId);
  const needsRunners = live.some((run) => run.state === "pending" || run.runner_id !== null);
  return { live, runners: needsRunners ? await listRunnerAvailability(reader, orgId) : [] };
}

/** Receipt of a prompt: its state, and the reason why it waits. */
function receipt(
  row: PromptRow,
  { live, runners }: QueueContext,
  ahead: number,
  now: number,
): Prompt {
  if (row.state === "settled") return promptView(row);
  const run = live.find((one) => one.id === row.run_id);
  return promptView(row, {
    run,
    ahead,
    sessionBusy: live.length > 0,
    sessionAsks: live.some(({ state }) => state === "gated"),
    runners: run?.state === "pending" ? matchRunners(runners, run) : "fit",
    takeoverAt: run === undefined ? null : takeoverAt(runners, run, now),
    now,
  });
}

function isQueue(states: PromptQuery["states"]): states is readonly PromptState[] {
  return states?.every((state) => state === "queued" || state === "collecting") ?? false;
}

/** Head of the queue, in the order in which it will run; it changes too fast to be paged. */
async function queuePage(
  reader: Reader,
  sessionId: string,
  states: readonly PromptState[],
  limit: number,
) {
  const waiting = await listWaiting(reader, sessionId, limit);
  return { items: waiting.filter((prompt) => states.includes(prompt.state)), next: null };
}

async function historyPage(
  reader: Reader,
  sessionId: string,
  { states, limit }: PromptQuery,
  before: { at: number; id: string } | undefined,
) {
  const rows = await listPrompts(reader, { sessionId, states, before, limit: limit + 1 });
  const place = (row: PromptRow) => ({ at: row.accepted_at, id: row.id });
  return pageOf(LIST, rows, limit, place, (row) => row);
}

/** Prompts as their callers use them: admission, and changes to waiting prompts. */
import { notFound, Refusal } from "#base/refusal.ts";
import { findRepeated, type IdempotentRequest } from "#engine/requests/idempotency.ts";
import { may, type Principal, principalKey, sessionResource } from "#engine/requests/principal.ts";
import type { RunOptions } from "#engine/runs/run-options.ts";
import type { PromptRow, SessionRow } from "#engine/schema.ts";
import { command, type Engine, type SessionWriter, type Work } from "#engine/work.ts";
import type { Attachment, Author, Origin, Prompt, QueueMode } from "#protocol/sessions.ts";
import { findBlob } from "../log/blob-queries.ts";
import { promptView } from "../views.ts";
import { type Admission, admitPrompt } from "./admit-prompt.ts";
import type { BlobInput } from "./attachments.ts";
import { editPrompt, promotePrompt, withdrawPrompt } from "./change-queue.ts";
import { findPrompt } from "./prompt-queries.ts";
import { createPromptReads } from "./prompt-reads.ts";
import { isRedacted, redactUnstarted } from "./redact-prompt.ts";

export interface PromptRequest {
  id: string;
  runId: string;
  content: string;
  thread: string;
  mode?: QueueMode | undefined;
  dispatchId?: string | undefined;
  attachments: readonly BlobInput[];
  origin?: Origin;
  runOptions?: RunOptions;
  /** See `NewPrompt`. */
  writtenMsAgo?: number | undefined;
}

export function createPrompts(engine: Engine) {
  const { ids } = engine;
  const reads = createPromptReads(engine);

  /** Makes a change and answers with the prompt's receipt. */
  async function change(
    principal: Principal,
    id: string,
    make: (work: Work, session: SessionWriter, prompt: PromptRow) => Promise<void>,
  ): Promise<Prompt> {
    await command(engine, async (work) => {
      const found = await findPrompt(work.tx, id);
      const session = found && (await work.sessionWithParent(found.session_id));
      // Read again under the lock: the prompt may have started meanwhile.
      const prompt = session && (await findPrompt(work.tx, id));
      if (!session || !prompt || !may(principal, "session.prompt", sessionResource(session.row))) {
        throw notFound("prompt");
      }
      if (!mayChange(principal, prompt)) throw notYours();
      await make(work, session, prompt);
    });
    return reads.get(principal, id);
  }

  return {
    get: reads.get,
    list: reads.list,
    attachment: reads.attachment,

    async admit(
      principal: Principal,
      sessionId: string,
      request: Omit<PromptRequest, "id" | "runId">,
      idempotent?: IdempotentRequest,
    ): Promise<Prompt> {
      const full = { ...request, id: ids.mint("pmt"), runId: ids.mint("run") };
      const row = await command(engine, async (work) => {
        const session = await findOrMake(work, principal, sessionId);
        if (!session || !may(principal, "session.prompt", sessionResource(session.row))) {
          throw notFound("session");
        }
        const repeated = await findRepeated(work, principalKey(principal), idempotent, full.id);
        const earlier = repeated === undefined ? undefined : await findPrompt(work.tx, repeated);
        return earlier ?? (await admitFrom(work, session, principal, full)).prompt;
      });
      return promptView(row);
    },

    /**
     * Sends a prompt whose turn failed or was stopped once more, with its attachments, to the same
     * thread. Repeated calls return the prompt that the first one admitted.
     */
    async retry(principal: Principal, id: string): Promise<Prompt> {
      const fresh = { id: ids.mint("pmt"), runId: ids.mint("run") };
      const row = await command(engine, async (work) => {
        const failed = await findPrompt(work.tx, id);
        const session = failed && (await work.sessionWithParent(failed.session_id));
        if (!session || !may(principal, "session.prompt", sessionResource(session.row))) {
          throw notFound("prompt");
        }
        if (!mayChange(principal, failed)) throw notYours();
        requireRetryable(failed);
        const request = { ...(await requestOf(work, failed)), ...fresh };
        return (await admitFrom(work, session, principal, request)).prompt;
      });
      return promptView(row);
    },

    withdraw: (principal: Principal, id: string) => change(principal, id, withdrawPrompt),
    /** Removes the words of a prompt that never became an entry; see `redact-prompt.ts`. */
    redact: (principal: Principal, id: string) => redactUnstarted(engine, principal, id),
    edit: (principal: Principal, id: string, content: string) =>
      change(principal, id, (work, session, prompt) => editPrompt(work, session, prompt, content)),
    promote: (principal: Principal, id: string) => change(principal, id, promotePrompt),
  };
}

/** Finds a session; a feature may create a missing one when it is first spoken to. */
async function findOrMake(
  work: Work,
  principal: Principal,
  sessionId: string,
): Promise<SessionWriter | undefined> {
  const session = await work.sessionWithParent(sessionId);
  if (session) return session;
  await work.emit({ type: "session_missing", sessionId, principal });
  return work.sessionWithParent(sessionId);
}

/** An agent withdraws or edits only its own prompts: a person's words to its child stay as they are. */
function mayChange(principal: Principal, { author_kind, author_id }: PromptRow): boolean {
  if (principal.kind !== "session") return true;
  return author_kind === "session" && author_id === principal.sessionId;
}

function notYours(): Refusal {
  return new Refusal(
    "forbidden",
    "not_your_prompt",
    "Somebody else sent this prompt. You can change or withdraw only your own prompts.",
  );
}

/** True unless the platform began the turn: somebody else's words must not come back as a person's. */
export function isRetryable(prompt: PromptRow): boolean {
  const { state, outcome, author_kind } = prompt;
  const isUnfinished = outcome === "failed" || outcome === "aborted";
  return state === "settled" && isUnfinished && author_kind !== "system" && !isRedacted(prompt);
}

function requireRetryable(prompt: PromptRow): void {
  if (isRetryable(prompt)) return;
  if (isRedacted(prompt))
    throw new Refusal(
      "conflict",
      "prompt_not_retryable",
      "The content of this prompt was removed. Say in a new prompt what to do.",
    );
  throw prompt.author_kind === "system"
    ? new Refusal(
        "conflict",
        "prompt_not_retryable",
        "The platform started this turn, so there is no prompt of yours to send again. Say in a new prompt how to continue.",
      )
    : new Refusal(
        "conflict",
        "prompt_not_failed",
        "Only a prompt whose turn failed or was stopped can be sent again. Send a new prompt.",
      );
}

/** Request with the same words, thread and attachments; admitted once, however often it is made. */
async function requestOf(
  work: Work,
  prompt: PromptRow,
): Promise<Omit<PromptRequest, "id" | "runId">> {
  const attachments: BlobInput[] = [];
  for (const { name, mediaType, sha256 } of JSON.parse(prompt.attachments) as Attachment[]) {
    const blob = await findBlob(work.tx, prompt.session_id, sha256);
    if (blob) attachments.push({ name, mediaType, data: blob.data });
  }
  return {
    content: prompt.content,
    thread: prompt.thread,
    mode: "followup",
    dispatchId: `retry:${prompt.id}`,
    // Older than any question that is pending now.
    writtenMsAgo: Number.POSITIVE_INFINITY,
    attachments,
    origin: JSON.parse(prompt.origin) as Origin,
    ...(prompt.run_options === null
      ? {}
      : { runOptions: JSON.parse(prompt.run_options) as RunOptions }),
  };
}

/** Admits a principal's prompt. */
export async function admitFrom(
  work: Work,
  session: SessionWriter,
  principal: Principal,
  request: PromptRequest,
): Promise<Admission> {
  const admission = await admitPrompt(work, session, {
    id: request.id,
    runId: request.runId,
    content: request.content,
    thread: request.thread,
    mode: request.mode,
    author: authorOf(principal),
    origin: request.origin ?? originOf(principal, session.row),
    createdBy: principalKey(principal),
    dispatchId: request.dispatchId ?? null,
    causeKey: null,
    attachments: request.attachments,
    runOptions: request.runOptions ?? null,
    mayAnswer: mayAnswer(principal, session.row),
    ...(request.writtenMsAgo !== undefined && { writtenMsAgo: request.writtenMsAgo }),
  });
  return admission;
}

/** True for a person's own words in their own session; a key must be one that may decide. */
function mayAnswer(principal: Principal, row: SessionRow): boolean {
  return (
    principal.kind === "user" &&
    principal.userId === row.owner_id &&
    may(principal, "approval.decide", sessionResource(row))
  );
}

function authorOf(principal: Principal): Author {
  switch (principal.kind) {
    case "user":
      return { kind: "user", id: principal.userId, name: principal.name };
    case "session":
      return { kind: "session", id: principal.sessionId, name: principal.name };
    default:
      return { kind: "system", id: principal.kind, name: principal.name };
  }
}

function originOf(principal: Principal, session: SessionRow): Origin {
  const channelType = principal.kind === "user" ? principal.channel : principal.kind;
  return { channelType, channelId: null, scopeKey: session.scope_key, replyRef: null };
}

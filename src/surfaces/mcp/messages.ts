/** Checks the content of a request before any of it is acted on. */
import { Refusal } from "#base/refusal.ts";

export interface Messages {
  body: unknown;
  isBatch: boolean;
  isInitialize: boolean;
  /** True if a call may have to wait. */
  hasCalls: boolean;
  /** Names of the called tools. */
  called: string[];
  /** Ids of cancelled requests. */
  cancelled: (string | number)[];
}

/** Batches do not exist from this version of the protocol on. */
const WITHOUT_BATCHES = "2025-06-18";
const MAX_BATCH = 50;
const CLIENT_ID = /^[\x21-\x7e]{1,128}$/;

export function checkMessages(body: unknown, version: string | undefined): Messages {
  const isBatch = Array.isArray(body);
  const list: unknown[] = isBatch ? body : [body];
  if (isBatch) checkBatch(list, version);
  const messages = list.map(partsOf);
  const ids = messages.flatMap(({ id, method }) =>
    id === undefined || method === undefined ? [] : [id],
  );
  // A response finds its request by the id: two with the same id would get each other's.
  if (new Set(ids).size < ids.length)
    throw invalid("Two requests of the batch have the same id. Give each its own.");
  return {
    body,
    isBatch,
    isInitialize: messages.some(({ method }) => method === "initialize"),
    hasCalls: messages.some(({ method }) => method === "tools/call"),
    called: messages.flatMap(({ method, params }) =>
      method === "tools/call" ? [String((params as { name?: unknown } | null)?.name)] : [],
    ),
    cancelled: messages.flatMap(({ method, params }) =>
      method === "notifications/cancelled" ? cancelledBy(params) : [],
    ),
  };
}

function checkBatch(list: readonly unknown[], version: string | undefined): void {
  if (version !== undefined && version >= WITHOUT_BATCHES)
    throw invalid(`Version ${WITHOUT_BATCHES} and later have no batches. Send one message.`);
  if (list.length === 0) throw invalid("The batch is empty. Send at least one message.");
  if (list.length > MAX_BATCH) throw invalid(`A batch has at most ${MAX_BATCH} messages.`);
}

interface Parts {
  id?: unknown;
  method?: unknown;
  params?: unknown;
}

function partsOf(message: unknown): Parts {
  return typeof message === "object" && message !== null ? message : {};
}

function cancelledBy(params: unknown): (string | number)[] {
  const { requestId } = (params ?? {}) as { requestId?: unknown };
  return typeof requestId === "string" || typeof requestId === "number" ? [requestId] : [];
}

/** The client's own id; undefined for text that could be none. */
export function clientIdOf(header: string | undefined): string | undefined {
  return header !== undefined && CLIENT_ID.test(header) ? header : undefined;
}

function invalid(message: string): Refusal {
  return new Refusal("invalid", "invalid_request", message);
}

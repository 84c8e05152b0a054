/**
 * Unsent prompts of one person in the browser's storage. Each has its own key, so that two tabs never
 * overwrite each other's prompts.
 */
import type { QueueMode } from "#protocol/sessions.ts";
import { isRecord } from "../api/api-client.ts";

export interface UnsentPrompt {
  dispatchId: string;
  sessionId: string;
  content: string;
  mode: QueueMode;
  /** Time of writing, in epoch milliseconds. */
  at: number;
}

export interface KeptPrompts {
  /** Returns false when the storage is full or forbidden. */
  keep(prompt: UnsentPrompt): boolean;
  forget(dispatchId: string): void;
  /** Lists prompts in the order of writing; undefined when the storage cannot be read. */
  list(): UnsentPrompt[] | undefined;
}

export function promptOf({ dispatchId, sessionId, content, mode, at }: UnsentPrompt): UnsentPrompt {
  return { dispatchId, sessionId, content, mode, at };
}

/** `storage` is a function because a browser that forbids storage throws on access. */
export function keptPrompts(storage: () => Storage, prefix: string): KeptPrompts {
  return {
    keep: (prompt) =>
      tried(() => {
        storage().setItem(prefix + prompt.dispatchId, JSON.stringify(promptOf(prompt)));
        return true;
      }) ?? false,

    forget: (dispatchId) => tried(() => storage().removeItem(prefix + dispatchId)),

    list: () =>
      tried(() =>
        Object.keys(storage())
          .filter((key) => key.startsWith(prefix))
          .map((key) => tried(() => JSON.parse(storage().getItem(key) ?? "") as unknown))
          .filter(isUnsent)
          .sort((one, other) => one.at - other.at),
      ),
  };
}

/** Returns undefined when `act` throws. */
function tried<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch {
    return undefined;
  }
}

function isUnsent(value: unknown): value is UnsentPrompt {
  if (!isRecord(value)) return false;
  const { dispatchId, sessionId, content, mode, at } = value;
  return (
    [dispatchId, sessionId, content, mode].every((one) => typeof one === "string") &&
    typeof at === "number"
  );
}

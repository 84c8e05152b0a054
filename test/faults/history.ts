/**
 * What the clients of a fault round were told, and what the program says when everything has come
 * to rest. The checker compares the two.
 */
import type { SessionEvent } from "#protocol/events.ts";
import type { Entry, Prompt, QueueMode } from "#protocol/sessions.ts";

/** `played`: native, but its prompts do not say what its turns will be. */
export type ScriptRuntime = "echo" | "scripted" | "native" | "played";

/** A prompt whose acceptance was answered. */
export interface SentPrompt {
  id: string;
  sessionId: string;
  content: string;
  runtime: ScriptRuntime;
  mode: QueueMode;
}

/** One event as a follower was sent it. */
export interface Sighting {
  seq: number;
  digest: string;
}

/** A reader of one session's live log, across all its connections. */
export interface FollowerRecord {
  name: string;
  sessionId: string;
  sightings: Sighting[];
}

export interface History {
  prompts: SentPrompt[];
  /** Prompts whose withdrawal was acknowledged. */
  withdrawn: string[];
  /** Prompts somebody tried to move to the front. */
  promoted: string[];
  /** How far a session's log was acknowledged to reach, by any answer. */
  reached: { sessionId: string; lastSeq: number }[];
  followers: FollowerRecord[];
  /** Answers that a client must never get. */
  badAnswers: string[];
}

export interface ObservedSession {
  id: string;
  runtime: ScriptRuntime;
  /** Its threads run side by side; in every other session one turn runs at a time. */
  isParallel?: boolean;
  lastSeq: number;
  log: LoggedEvent[];
  transcript: Entry[];
  /** Everything that was ever admitted, also by the system itself. */
  prompts: Prompt[];
}

export interface LoggedEvent {
  event: SessionEvent;
  digest: string;
}

export interface Observation {
  sessions: ObservedSession[];
  /** Each acknowledged prompt, read twice; null where it was not found. */
  readings: Map<string, [Prompt | null, Prompt | null]>;
}

export function emptyHistory(): History {
  return {
    prompts: [],
    withdrawn: [],
    promoted: [],
    reached: [],
    followers: [],
    badAnswers: [],
  };
}

/** Gates that prompts of this session answered by their words, by prompt. */
export function answeredGates({ log }: Pick<ObservedSession, "log">): Map<string, string> {
  return new Map(
    log.flatMap(({ event: { type, promptId, data } }) =>
      type === "prompt_settled" && promptId !== null && typeof data?.answeredGate === "string"
        ? [[promptId, data.answeredGate] as const]
        : [],
    ),
  );
}

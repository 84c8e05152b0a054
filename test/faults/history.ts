/**
 * The answers that the clients of a fault round got, and the program's final state. The checker
 * compares the two.
 */
import type { SessionEvent } from "#protocol/events.ts";
import type { Entry, Prompt, QueueMode } from "#protocol/sessions.ts";

/** `played`: native, but its prompts do not determine its turns. */
export type ScriptRuntime = "echo" | "scripted" | "native" | "played";

/** A prompt whose acceptance was acknowledged. */
export interface SentPrompt {
  id: string;
  sessionId: string;
  content: string;
  runtime: ScriptRuntime;
  mode: QueueMode;
}

/** One event as it was sent to a follower. */
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
  /** Prompts that someone tried to promote. */
  promoted: string[];
  /** The furthest position of a session's log in any answer. */
  reached: { sessionId: string; lastSeq: number }[];
  followers: FollowerRecord[];
  /** Answers that a client must never get. */
  badAnswers: string[];
}

export interface ObservedSession {
  id: string;
  runtime: ScriptRuntime;
  /** Its threads run side by side; every other session runs one turn at a time. */
  isParallel?: boolean;
  lastSeq: number;
  log: LoggedEvent[];
  transcript: Entry[];
  /** Every admitted prompt, also those from the system itself. */
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

/** Gates answered by prompts of this session, by prompt. */
export function answeredGates({ log }: Pick<ObservedSession, "log">): Map<string, string> {
  return new Map(
    log.flatMap(({ event: { type, promptId, data } }) =>
      type === "prompt_settled" && promptId !== null && typeof data?.answeredGate === "string"
        ? [[promptId, data.answeredGate] as const]
        : [],
    ),
  );
}

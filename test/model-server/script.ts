/**
 * Answers of the model server, chosen by the newest text of the user. Lines that begin with one of
 * these words are instructions; everything else is ignored, so agents may wrap the text.
 *
 *   SAY text           the final answer (default: the user's text, or the last tool result)
 *   THINK text         reasoning before the final answer
 *   CALL name {json}   one response with this tool call; several lines are several rounds
 *   ALSO name {json}   one more call in the same response as the CALL before it
 *   SLOW n [ms]        the final answer is n pieces, ms apart (default 100)
 *   LATE ms            nothing is sent for this time
 *   FAIL status [n]    the first n (default 1) requests with this text fail with this status
 *   ERROR type text    the body of a failure
 *   HEADER name value  a header of a failure; may be given several times
 *   USAGE in out [cached [reasoning]]   reports these token counts
 *   INVENT name {json} like CALL, for a tool that was not offered
 *   SPLIT n            the arguments of calls come in pieces of n characters
 *   SAMEID             all calls of a response have the same id
 *   HUGE mb            the final answer has this many megabytes, sent as fast as they are read
 *   FAULT kind [n]     the first n (default all) requests with this text go wrong:
 *                        hang    not a byte is sent
 *                        stall   nothing more comes after two pieces
 *                        cut     the connection breaks after two pieces
 *                        end     the stream ends in order after two pieces, without its last events
 *                        garble  after two pieces comes invalid JSON
 *                        body    the answer is an error with status 200
 *                        line    one line without an end, as fast as it is read
 *
 *   PLAY name          in the system prompt or in any text of the user: the player that the test has
 *                      registered under this name decides. It gets the conversation at each
 *                      request and returns instructions for the one response.
 */
export interface Conversation {
  model: string;
  /** Everything the model is told before the first message. */
  system: string;
  /** All texts of the user, oldest first, without tool results. */
  userTexts: string[];
  isStream: boolean;
  /** The newest message of the user that is not a tool result. */
  userText: string;
  /** Number of model responses since then. */
  round: number;
  /** The last tool results, when the newest message is a tool result. */
  toolResults: string[];
  toolNames: string[];
}

export interface ToolCall {
  name: string;
  json: string;
  isInvented: boolean;
}

const FAULTS = ["hang", "stall", "cut", "end", "garble", "body", "line"] as const;
export type Fault = (typeof FAULTS)[number];

export interface Reply {
  reasoning: string;
  pieces: string[];
  pauseMs: number;
  /** Delay before the first byte. */
  delayMs: number;
  calls: ToolCall[];
  usage: {
    inputTokens: number;
    cachedTokens: number;
    outputTokens: number;
    reasoningTokens: number;
  };
  /** Piece size; 0 for whole arguments. */
  splitChars: number;
  hasSameIds: boolean;
  hugeBytes: number;
  fault: Fault | null;
}

export interface Failure {
  failStatus: number;
  headers: Record<string, string>;
  /** Null for the provider's usual wording. */
  error: { type: string; message: string } | null;
}

export type Plan = Failure | Reply;

/** Decides one response of a played conversation. */
export type Player = (conversation: Conversation) => string;

const PIECE_CHARS = 12;
const SHOWN_CHARS = 200;
const DEFAULT_SLOW_MS = 100;

export function planReply(
  asked: Conversation,
  counts: Map<string, number>,
  players: ReadonlyMap<string, Player> = new Map(),
): Plan {
  const player = playerOf(asked, players);
  const conversation = player ? { ...asked, userText: player(asked), round: 0 } : asked;
  const { userText } = conversation;
  const lines = userText.split("\n").map((line) => line.trim());
  const fail = findMatch(lines, /^FAIL (\d{3})(?: (\d+))?/);
  if (fail && takeTurn(counts, `FAIL ${userText}`, Number(fail[2] ?? 1))) {
    return { failStatus: Number(fail[1]), headers: headersIn(lines), error: errorIn(lines) };
  }
  const reply = emptyReply(lines);
  const fault = findMatch(lines, /^FAULT (\w+)(?: (\d+))?/);
  const kind = FAULTS.find((name) => name === fault?.[1]);
  const times = Number(fault?.[2] ?? Number.POSITIVE_INFINITY);
  if (kind && takeTurn(counts, `FAULT ${userText}`, times)) reply.fault = kind;
  const calls = callRounds(lines)[conversation.round];
  if (calls) return callTools(reply, calls, conversation);
  return giveFinalAnswer(reply, lines, conversation);
}

/** A name without a player is no instruction. */
function playerOf(
  { system, userTexts }: Conversation,
  players: ReadonlyMap<string, Player>,
): Player | undefined {
  if (players.size === 0) return undefined;
  const name = [system, ...userTexts]
    .map((text) => /^PLAY (\S+)$/m.exec(text)?.[1])
    .find((found) => found !== undefined);
  return name === undefined ? undefined : players.get(name);
}

function emptyReply(lines: string[]): Reply {
  const usage = findMatch(lines, /^USAGE (\d+) (\d+)(?: (\d+))?(?: (\d+))?/);
  return {
    reasoning: "",
    pieces: [],
    pauseMs: 0,
    delayMs: Number(findMatch(lines, /^LATE (\d+)/)?.[1] ?? 0),
    calls: [],
    usage: {
      inputTokens: Number(usage?.[1] ?? 10),
      cachedTokens: Number(usage?.[3] ?? 0),
      outputTokens: Number(usage?.[2] ?? 20),
      reasoningTokens: Number(usage?.[4] ?? 0),
    },
    splitChars: Number(findMatch(lines, /^SPLIT (\d+)/)?.[1] ?? 0),
    hasSameIds: lines.includes("SAMEID"),
    hugeBytes: 0,
    fault: null,
  };
}

/** True for the first `times` calls with the same key. */
function takeTurn(counts: Map<string, number>, key: string, times: number): boolean {
  const done = counts.get(key) ?? 0;
  if (done >= times) return false;
  counts.set(key, done + 1);
  return true;
}

function headersIn(lines: string[]): Record<string, string> {
  const pairs = lines.flatMap((line) => {
    const [, name, value] = /^HEADER ([\w-]+) (.+)/.exec(line) ?? [];
    return name && value ? [[name, value] as const] : [];
  });
  return Object.fromEntries(pairs);
}

function errorIn(lines: string[]): Failure["error"] {
  const [, type, message] = findMatch(lines, /^ERROR (\S+) (.+)/) ?? [];
  return type && message ? { type, message } : null;
}

function callTools(reply: Reply, calls: ToolCall[], { toolNames }: Conversation): Reply {
  const unknown = calls.find(({ name, isInvented }) => !isInvented && !toolNames.includes(name));
  if (unknown) {
    return {
      ...reply,
      pieces: [`No such tool ${unknown.name}; there are: ${toolNames.join(", ")}`],
    };
  }
  return {
    ...reply,
    pieces: cut(`Calling ${calls.map(({ name }) => name).join(" and ")}. `),
    calls,
  };
}

function giveFinalAnswer(reply: Reply, lines: string[], conversation: Conversation): Reply {
  const reasoning = findMatch(lines, /^THINK (.+)/)?.[1] ?? "";
  const slow = findMatch(lines, /^SLOW (\d+)(?: (\d+))?/);
  if (slow) {
    const pieces = Array.from({ length: Number(slow[1]) }, (_, index) => `tick${index} `);
    return { ...reply, reasoning, pieces, pauseMs: Number(slow[2] ?? DEFAULT_SLOW_MS) };
  }
  const huge = findMatch(lines, /^HUGE (\d+)/);
  if (huge) return { ...reply, reasoning, pieces: ["huge: "], hugeBytes: Number(huge[1]) * 1e6 };
  const said = lines.flatMap((line) => /^SAY (.+)/.exec(line)?.[1] ?? []).join("\n");
  return { ...reply, reasoning, pieces: cut(said || defaultAnswer(conversation)) };
}

function defaultAnswer({ toolResults, userText }: Conversation): string {
  if (toolResults.length === 0) return `You said: ${userText.trim().slice(-SHOWN_CHARS)}`;
  return `Tool said: ${toolResults.map((result) => result.slice(0, SHOWN_CHARS)).join(" | ")}`;
}

function callRounds(lines: string[]): ToolCall[][] {
  const rounds: ToolCall[][] = [];
  for (const line of lines) {
    const [, word, name, json] = /^(CALL|ALSO|INVENT) ([\w.-]+) (\{.*\})/.exec(line) ?? [];
    if (!name || !json) continue;
    const call = { name, json, isInvented: word === "INVENT" };
    if (word === "ALSO") rounds.at(-1)?.push(call);
    else rounds.push([call]);
  }
  return rounds;
}

function findMatch(lines: string[], pattern: RegExp): RegExpExecArray | null {
  for (const line of lines) {
    const match = pattern.exec(line);
    if (match) return match;
  }
  return null;
}

function cut(text: string): string[] {
  return text.match(new RegExp(`.{1,${PIECE_CHARS}}`, "gsu")) ?? [];
}

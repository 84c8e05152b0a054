/**
 * What the model server answers, decided by the newest text of the user. Lines that begin with one
 * of these words are instructions; everything else is ignored, so agents may wrap the text.
 *
 *   SAY text           the final answer (default: what was said, or what the last tool returned)
 *   THINK text         reasoning before the final answer
 *   CALL name {json}   one response with this tool call; several lines are several rounds
 *   ALSO name {json}   one more call in the same response as the CALL before it
 *   SLOW n [ms]        the final answer is n pieces, ms apart (default 100)
 *   FAIL status [n]    the first n (default 1) requests with this text fail with this status
 *   USAGE in out       reports these token counts
 */
export interface Conversation {
  model: string;
  isStream: boolean;
  /** The newest message of the user that is not a tool result. */
  userText: string;
  /** How often the model has answered since then. */
  round: number;
  /** What the last tools returned, when the newest message is a tool result. */
  toolResults: string[];
  toolNames: string[];
}

export interface ToolCall {
  name: string;
  json: string;
}

export interface Reply {
  reasoning: string;
  pieces: string[];
  pauseMs: number;
  calls: ToolCall[];
  usage: { inputTokens: number; outputTokens: number };
}

export type Plan = { failStatus: number } | Reply;

const PIECE_CHARS = 12;
const SHOWN_CHARS = 200;
const DEFAULT_SLOW_MS = 100;

export function planReply(conversation: Conversation, failures: Map<string, number>): Plan {
  const lines = conversation.userText.split("\n").map((line) => line.trim());
  const failStatus = takeFailure(lines, conversation.userText, failures);
  if (failStatus) return { failStatus };
  const usage = findMatch(lines, /^USAGE (\d+) (\d+)/);
  const reply: Reply = {
    reasoning: "",
    pieces: [],
    pauseMs: 0,
    calls: [],
    usage: { inputTokens: Number(usage?.[1] ?? 10), outputTokens: Number(usage?.[2] ?? 20) },
  };
  const calls = callRounds(lines)[conversation.round];
  if (calls) return callTools(reply, calls, conversation);
  return giveFinalAnswer(reply, lines, conversation);
}

function takeFailure(lines: string[], text: string, failures: Map<string, number>): number | null {
  const fail = findMatch(lines, /^FAIL (\d{3})(?: (\d+))?/);
  if (!fail) return null;
  const done = failures.get(text) ?? 0;
  if (done >= Number(fail[2] ?? 1)) return null;
  failures.set(text, done + 1);
  return Number(fail[1]);
}

function callTools(reply: Reply, calls: ToolCall[], { toolNames }: Conversation): Reply {
  const unknown = calls.find(({ name }) => !toolNames.includes(name));
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
    const [, word, name, json] = /^(CALL|ALSO) ([\w.-]+) (\{.*\})/.exec(line) ?? [];
    if (!name || !json) continue;
    if (word === "CALL") rounds.push([{ name, json }]);
    else rounds.at(-1)?.push({ name, json });
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

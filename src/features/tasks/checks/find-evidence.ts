/**
 * Decides from the server's own journal of a session if a task's check has passed. A command counts if
 * the runner performed exactly this command at the top of the workspace, it ended with the expected
 * exit code, and no tool that can change files was called since. The claims of an agent, and the
 * reports of an agent program about its own tools, are no evidence.
 */
import { cleanText } from "#base/text/clean-text.ts";

/** Tools that can change files, as far as is known. */
export const CHANGING_TOOLS = ["bash", "write", "edit"] as const;
export const PULL_REQUEST_TOOL = "create_pull_request";

/** A log row about a tool call or its result. */
export interface CallEvent {
  type: string;
  seq: number;
  at: number;
  thread: string | null;
  prompt_id: string | null;
  run_id: string | null;
  tool_name: string | null;
  tool_input: string | null;
  tool_output: string | null;
  error: string | null;
  exit_code: number | null;
  data: string | null;
}

export type Finding =
  | { state: "never" }
  | { state: "passed" | "wrong_exit" | "elsewhere" | "changed_since"; ended: CallEvent };

interface CallData {
  callId?: string;
  cwd?: string | null;
  verdict?: { verdict?: string };
}
const dataOf = ({ data }: CallEvent) => JSON.parse(data ?? "{}") as CallData;
/** Key of a call: call ids are unique only within a turn. */
const callOf = (event: CallEvent) => `${event.prompt_id}/${dataOf(event).callId}`;

/** Judges a command check. `events`: calls of the tools that change files, newest first. */
export function judgeCommand(
  events: readonly CallEvent[],
  { command, expectExitCode = 0 }: { command: string; expectExitCode?: number | undefined },
): Finding {
  const wanted = cleanText(command);
  const ended = events.find((event) => event.type === "post_tool" && isRunOf(event, wanted));
  const started = ended && events.find((one) => isCallOf(one, ended));
  if (!ended || !started) return { state: "never" };
  if (ended.exit_code !== expectExitCode) return { state: "wrong_exit", ended };
  if ((dataOf(started).cwd ?? null) !== null) return { state: "elsewhere", ended };
  const hasChanged = events.some((event) => mayHaveChanged(event, started, ended));
  return { state: hasChanged ? "changed_since" : "passed", ended };
}

/** Judges a pull request check. `events`: calls of the tool that opens pull requests, newest first. */
export function judgePullRequest(events: readonly CallEvent[]): Finding {
  const ended = events.find((event) => event.type === "post_tool");
  if (!ended) return { state: "never" };
  const isOpen = ended.error === null && IS_OPEN.test(outputOf(ended));
  return { state: isOpen ? "passed" : "wrong_exit", ended };
}
/** Output of the tool, after the name of a branch, which has no spaces. */
const IS_OPEN = / (?:Opened (?:draft )?pull request|(?:Draft pull|Pull) request) #\d+ /;

export function outputOf({ tool_output }: CallEvent): string {
  const output: unknown = tool_output === null ? "" : JSON.parse(tool_output);
  return typeof output === "string" ? output : JSON.stringify(output ?? "");
}

function isRunOf({ tool_name, tool_input }: CallEvent, command: string): boolean {
  if (tool_name !== "bash" || tool_input === null) return false;
  const input = JSON.parse(tool_input) as { command?: unknown; background?: unknown } | null;
  return input?.command === command && input.background !== true;
}

function isCallOf(event: CallEvent, ended: CallEvent): boolean {
  return event.type === "pre_tool" && callOf(event) === callOf(ended);
}

/**
 * True if the event may have changed files after the check began. Calls of one turn run one after the
 * other, in the order they were requested. Threads may run in parallel, so a call that another thread
 * ended during the check may have changed something.
 */
function mayHaveChanged(event: CallEvent, started: CallEvent, ended: CallEvent): boolean {
  if (callOf(event) === callOf(ended)) return false;
  if (event.type === "post_tool")
    return event.seq > (event.thread === ended.thread ? ended.seq : started.seq);
  const { verdict } = dataOf(event);
  const wasRefused = verdict?.verdict === "deny" || verdict?.verdict === "invalid";
  return event.seq > started.seq && !wasRefused;
}

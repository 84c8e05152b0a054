/** Delegation calls of an agent in words; undefined for all other calls. Pure. */
import { isRecord } from "#surfaces/web/kit/api/api-client.ts";
import type { ToolState } from "../tools/tool-view.ts";
import type { ToolUse } from "../transcript/entry-from-event.ts";

export interface DelegationWords {
  /** Action, current or past: "Started", "Waiting for agents". */
  verb: string;
  /** Title of the session concerned. */
  title: string | null;
  sessionId: string | null;
}

type Verbs = readonly [doing: string, done: string];

const SPAWNS: Verbs = ["Starting", "Started"];
const SENDS: Verbs = ["Messaging", "Messaged"];
const STOPS: Verbs = ["Stopping the turn of", "Stopped the turn of"];
const ENDS: Verbs = ["Ending", "Ended"];
const READS: Verbs = ["Reading", "Read"];
const DETACHES: Verbs = ["Detaching", "Detached"];

const WITH_SESSION: Readonly<Record<string, Verbs>> = {
  spawn_session: SPAWNS,
  create_session: SPAWNS,
  orchestrate_spawn_worker: SPAWNS,
  send_message: SENDS,
  orchestrate_send_to_worker: SENDS,
  orchestrate_interrupt_worker: STOPS,
  terminate_session: ENDS,
  orchestrate_kill_worker: ENDS,
  read_messages: READS,
  orchestrate_read_worker: READS,
  get_session_status: ["Checking", "Checked"],
  forward_messages: ["Forwarding messages from", "Forwarded messages from"],
  orchestrate_detach_worker: DETACHES,
  relocate_session: ["Moving to another machine:", "Moved to another machine:"],
  decide_plan: ["Reviewing the plan of", "Reviewed the plan of"],
};

const WITHOUT_SESSION: Readonly<Record<string, Verbs>> = {
  wait_for_event: ["Waiting for agents", "Waiting for agents"],
  sleep: ["Sleeping", "Sleeping"],
  list_sessions: ["Listing agents", "Listed agents"],
  orchestrate_list_workers: ["Listing workers", "Listed workers"],
  orchestrate_read_inbox: ["Reading the inbox", "Read the inbox"],
  request_plan_approval: ["Presenting a plan", "Presented a plan"],
  notify_parent: ["Notifying its parent", "Notified its parent"],
  complete_session: ["Reporting to its parent", "Reported to its parent"],
};

const SESSION_ID = /\bses_[0-9A-Za-z]+\b/;

export function delegationWords(use: ToolUse, state: ToolState): DelegationWords | undefined {
  const withSession = Object.hasOwn(WITH_SESSION, use.name) ? WITH_SESSION[use.name] : undefined;
  const verbs =
    withSession ??
    (Object.hasOwn(WITHOUT_SESSION, use.name) ? WITHOUT_SESSION[use.name] : undefined);
  if (verbs === undefined) return undefined;
  const verb = verbs[state === "done" ? 1 : 0];
  if (withSession === undefined) return { verb, title: null, sessionId: null };
  const input = isRecord(use.input) ? use.input : {};
  return {
    verb,
    title: textIn(input, "title") ?? textIn(input, "name"),
    sessionId: idIn(input) ?? (state === "done" ? idAnywhere(use.output) : null),
  };
}

function idIn(input: Record<string, unknown>): string | null {
  const id = textIn(input, "sessionId") ?? textIn(input, "workerId") ?? textIn(input, "session_id");
  return id !== null && SESSION_ID.test(id) ? id : null;
}

function idAnywhere(output: unknown): string | null {
  const text = typeof output === "string" ? output : (JSON.stringify(output) ?? "");
  return SESSION_ID.exec(text)?.[0] ?? null;
}

function textIn(input: Record<string, unknown>, name: string): string | null {
  const value = input[name];
  return typeof value === "string" && value.trim() !== "" ? value : null;
}

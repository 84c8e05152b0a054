/**
 * Parents and children: every end, question, stop and deletion of a child is in its parent's
 * transcript once, in the thread that spawned the child, and nowhere else; a parent is not notified
 * of its own actions; a spawn call makes one child; and everything in a transcript was shown to a
 * model.
 */
import { INTERRUPTED, type SessionEvent } from "#protocol/events.ts";
import type { Notice } from "#protocol/notices/notices.ts";
import { type ChildNotice, readAnswer, readNotice } from "../delegation/child-notices.ts";
import type { HouseholdObservation, ObservedMember } from "../delegation/come-to-rest.ts";
import { isOwnEnd, spawnedId, spawnTitle } from "../delegation/dialects.ts";
import type { Deed } from "../delegation/passers-by.ts";
import { resultToken, tokenOf } from "../delegation/tasks.ts";
import { type Due, duesOf } from "./children-facts.ts";

export interface ParentRecord {
  id: string;
  /** The name of its scripted model. */
  name: string;
}

export interface DelegationEvidence {
  parents: readonly ParentRecord[];
  /** Results that each parent's model was shown, by the parent's name. */
  shown: ReadonlyMap<string, ReadonlySet<string>>;
  deeds: readonly Deed[];
}

export interface DelegationFigures {
  children: number;
  /** Notifications due to parents. */
  endings: number;
  questions: number;
  /** Messages that children sent while they worked on. */
  messages: number;
  told: number;
  /** Parents' calls that ended, stopped or detached a child, of which they get no notification. */
  own: number;
}

export interface DelegationVerdict {
  violations: string[];
  figures: DelegationFigures;
}

interface DeliveredEvent extends ChildNotice {
  parentId: string;
  thread: string;
  seq: number;
}

interface Spawn {
  parentId: string;
  thread: string;
  title: string;
  call: string;
  post: SessionEvent | undefined;
}

export function checkDelegation(
  { sessions }: HouseholdObservation,
  { parents, shown, deeds }: DelegationEvidence,
): DelegationVerdict {
  const parentIds = new Set(parents.map(({ id }) => id));
  const leads = sessions.filter(({ id }) => parentIds.has(id));
  const children = sessions.filter(({ id }) => !parentIds.has(id));
  const spawns = leads.flatMap(spawnsOf);
  const told = leads.flatMap(notificationsTo);
  const byChild = Map.groupBy(told, ({ childId }) => childId);
  const figures = {
    children: children.length,
    endings: 0,
    questions: 0,
    messages: 0,
    told: told.length,
    own: 0,
  };
  const violations = [
    ...checkSpawns(spawns, children),
    ...checkDeeds(deeds, children),
    ...checkShown(parents, told, shown),
    ...told
      .filter(({ childId }) => !children.some(({ id }) => id === childId))
      .map((one) => `told: ${nameOf(one)} is of a child that does not exist`),
  ];
  figures.own = leads.reduce((sum, lead) => sum + countOwnEnds(lead), 0);
  for (const child of children) {
    const spawn = spawns.find(({ title }) => title === child.title);
    if (!spawn) continue;
    const dues = duesOf(child, spawn.parentId);
    for (const { type } of dues) figures[countedAs(type)] += 1;
    violations.push(
      ...checkNotified(child, spawn, dues, byChild.get(child.id) ?? []),
      ...checkResults(child),
    );
  }
  return { violations, figures };
}

function countedAs(type: string): "endings" | "questions" | "messages" {
  if (type === "worker.ask_user") return "questions";
  return type === "worker.notified" ? "messages" : "endings";
}

function nameOf({ parentId, seq, type, token }: DeliveredEvent): string {
  return `${parentId} #${seq} ${type}${token === undefined ? "" : ` ${token}`}`;
}

/** Notifications in a parent's transcript: in prompts that began, and in tool results. */
function notificationsTo({ id: parentId, log }: ObservedMember): DeliveredEvent[] {
  return log.flatMap(({ event }) => {
    const { type, kind, thread, seq, toolName, toolOutput, data } = event;
    const isPrompt = type === "message" && kind === "prompt";
    const news = isPrompt
      ? readNotice(data?.notice as Notice | undefined)
      : type === "post_tool"
        ? readAnswer(toolName, toolOutput)
        : [];
    return news.map((one) => ({ ...one, parentId, thread: thread ?? "", seq }));
  });
}

function textOf({ content }: SessionEvent): string {
  return content?.map(({ text }) => String(text)).join("") ?? "";
}

function spawnsOf({ id: parentId, log }: ObservedMember): Spawn[] {
  const events = log.map(({ event }) => event);
  return events.flatMap((event) => {
    if (event.type !== "pre_tool") return [];
    const title = spawnTitle(event.toolName, event.toolInput);
    if (title === undefined) return [];
    const call = `${event.data?.callId}`;
    const post = events.find(
      ({ type, promptId, data }) =>
        type === "post_tool" && promptId === event.promptId && data?.callId === event.data?.callId,
    );
    return [{ parentId, thread: event.thread ?? "", title, call, post }];
  });
}

/** A successful call made the one child it names; a refused call made none. */
function checkSpawns(spawns: readonly Spawn[], children: readonly ObservedMember[]): string[] {
  const made = Map.groupBy(children, ({ title }) => title);
  const asked = new Set(spawns.map(({ title }) => title));
  const strays = children
    .filter(({ title }) => !asked.has(title))
    .map(({ id, title }) => `spawn: ${id} (${title}) was made without a call`);
  const wrong = spawns.flatMap((spawn) => {
    const ids = (made.get(spawn.title) ?? []).map(({ id }) => id);
    const say = (what: string) => [
      `spawn: ${spawn.call} of ${spawn.parentId} (${spawn.title}) ${what}`,
    ];
    if (ids.length > 1) return say(`made ${ids.length} children`);
    const { post } = spawn;
    if (!post) return [];
    if (post.error === null)
      return ids[0] === spawnedId(post.toolOutput) && ids[0] !== undefined
        ? []
        : say(`named ${spawnedId(post.toolOutput)}, and there is ${ids[0]}`);
    if (ids.length === 0) return [];
    return say(
      post.error === INTERRUPTED
        ? "made a child that its parent does not know of"
        : "was refused and made a child",
    );
  });
  return [...strays, ...wrong];
}

/** Actions acknowledged to a person took effect. */
function checkDeeds(deeds: readonly Deed[], children: readonly ObservedMember[]): string[] {
  return deeds.flatMap(({ childId, what }) => {
    const child = children.find(({ id }) => id === childId);
    const isDone = child?.log.some(({ event }) => event.reason === what);
    return isDone
      ? []
      : [`deed: ${childId} was acknowledged as ${what}, and its log has no word of it`];
  });
}

const NEEDS_PARENT = /^No such tool (?:notify_parent|request_plan_approval);/;

/** A completed child gave the result that its task asked for. */
function checkResults(child: ObservedMember): string[] {
  return child.prompts.flatMap((prompt) => {
    if (prompt.outcome !== "completed") return [];
    const said = child.log.findLast(
      ({ event }) =>
        event.promptId === prompt.id && event.type === "message" && event.kind === "text",
    );
    const text = said ? textOf(said.event) : "";
    // A detached child has no parent to write to, or to present a plan to.
    if (/^Calling .*complete_session/.test(text) || NEEDS_PARENT.test(text)) return [];
    const token = tokenOf(prompt.content);
    return token !== undefined && resultToken(text) === token
      ? []
      : [
          `result: ${prompt.id} of ${child.id} was to say ${token} and said ${JSON.stringify(text)}`,
        ];
  });
}

/** Each notification comes once, for a reason, and in the thread that spawned the child. */
function checkNotified(
  child: ObservedMember,
  spawn: Spawn,
  dues: readonly Due[],
  told: readonly DeliveredEvent[],
): string[] {
  const key = ({ type, token = "" }: { type: string; token?: string | undefined }) =>
    `${type} ${token}`;
  const name = `${child.id} (${child.title})`;
  const due = Map.groupBy(dues, key);
  const heard = Map.groupBy(told, key);
  const wrongPlace = told
    .filter(({ parentId, thread }) => parentId !== spawn.parentId || thread !== spawn.thread)
    .map((one) => `told: ${nameOf(one)} of ${name} was for ${spawn.parentId} in ${spawn.thread}`);
  const miscounted = [...new Set([...due.keys(), ...heard.keys()])].flatMap((what) => {
    const wanted = due.get(what) ?? [];
    const count = heard.get(what)?.length ?? 0;
    const min = wanted.reduce((sum, one) => sum + one.min, 0);
    if (count >= min && count <= wanted.length) return [];
    const causes = wanted.map(({ cause }) => cause).join(", ");
    const where = heard.get(what)?.map(nameOf).join(", ") ?? "";
    return [
      `told: ${what.trim()} of ${name} ${count} times instead of ${min} to ${wanted.length}: because of [${causes}], told in [${where}]`,
    ];
  });
  return [...wrongPlace, ...miscounted];
}

/** Everything in a transcript was shown to that parent's model, and to no other's. */
function checkShown(
  parents: readonly ParentRecord[],
  told: readonly DeliveredEvent[],
  shown: ReadonlyMap<string, ReadonlySet<string>>,
): string[] {
  return parents.flatMap(({ id, name }) => {
    const own = new Set(
      told.flatMap(({ parentId, type, token }) =>
        parentId === id && type === "worker.ended" && token !== undefined ? [token] : [],
      ),
    );
    const seen = shown.get(name) ?? new Set();
    return [
      ...[...own]
        .filter((token) => !seen.has(token))
        .map((token) => `shown: ${id} was told ${token}, its model was not`),
      ...[...seen]
        .filter((token) => !own.has(token))
        .map((token) => `shown: the model of ${id} saw ${token}, which it was not told`),
    ];
  });
}

function countOwnEnds({ log }: ObservedMember): number {
  return log.filter(
    ({ event }) => event.type === "post_tool" && isOwnEnd(event.toolName) && event.error === null,
  ).length;
}

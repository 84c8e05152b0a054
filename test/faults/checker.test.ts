import { describe, expect, it } from "vitest";
import type { SessionEvent } from "#protocol/events.ts";
import type { Entry, Prompt } from "#protocol/sessions.ts";
import { check } from "./checker.ts";
import { emptyHistory, type History, type Observation } from "./history.ts";

const SCRIPT = 'say a begins\nsleep 5\ntool no_such_tool {"n": 1}\nstream 2 5';
const RUN = { promptId: "pmt_1", runId: "run_1" };

type Draft = Partial<SessionEvent> & Pick<SessionEvent, "type">;

const say = (step: number, text: string): Draft => ({
  type: "message",
  entryId: `ent_${step}`,
  kind: "text",
  role: "assistant",
  content: [{ type: "text", text }],
  data: { step },
  ...RUN,
});
const call = (type: "pre_tool" | "post_tool"): Draft => ({
  type,
  entryId: `ent_${type}`,
  kind: type === "pre_tool" ? "tool_call" : "tool_result",
  role: "assistant",
  data: { step: 2, callId: "call_1" },
  ...RUN,
});
const claimed = (fence: number): Draft => ({ type: "run_claimed", data: { fence }, ...RUN });
const lost = (fence: number): Draft => ({ type: "run_lost", data: { fence }, ...RUN });

/** A turn that lost its runner once and then completed. */
const goodLog: readonly Draft[] = [
  { type: "session_created" },
  { type: "prompt_accepted", promptId: "pmt_1" },
  { type: "run_created", ...RUN },
  {
    type: "message",
    kind: "prompt",
    role: "user",
    entryId: "ent_p",
    content: [{ type: "text", text: SCRIPT }],
    ...RUN,
  },
  claimed(1),
  say(0, "a begins"),
  lost(1),
  claimed(2),
  call("pre_tool"),
  call("post_tool"),
  say(3, "token1 token2"),
  { type: "run_settled", reason: "completed", ...RUN },
  { type: "prompt_settled", reason: "completed", ...RUN },
];

const goodPrompt = {
  id: "pmt_1",
  sessionId: "ses_1",
  mode: "followup",
  state: "settled",
  outcome: "completed",
  content: SCRIPT,
  error: null,
  mergedInto: null,
  supersededBy: null,
  startedAt: "2026-01-01T00:00:00.000Z",
  waitingFor: null,
} as Prompt;

interface World {
  history: History;
  observation: Observation;
}

interface Plant {
  log?: readonly Draft[];
  prompt?: Partial<Prompt>;
  mayExhaust?: boolean;
  spoil?: (world: World) => void;
}

function eventsOf(drafts: readonly Draft[]): SessionEvent[] {
  return drafts.map(
    (draft, n) =>
      ({
        seq: n + 1,
        promptId: null,
        runId: null,
        entryId: null,
        kind: null,
        role: null,
        content: null,
        reason: null,
        data: null,
        ...draft,
      }) as SessionEvent,
  );
}

function violationsOf({ log = goodLog, prompt, mayExhaust = false, spoil }: Plant): string[] {
  const events = eventsOf(log);
  const row = { ...goodPrompt, ...prompt };
  const logged = events.map((event) => ({ event, digest: `d${event.seq}` }));
  const world: World = {
    history: {
      ...emptyHistory(),
      prompts: [
        { id: "pmt_1", sessionId: "ses_1", content: SCRIPT, runtime: "scripted", mode: "followup" },
      ],
      followers: [
        {
          name: "follower",
          sessionId: "ses_1",
          sightings: logged.map(({ event, digest }) => ({ seq: event.seq, digest })),
        },
      ],
    },
    observation: {
      sessions: [
        {
          id: "ses_1",
          runtime: "scripted",
          lastSeq: events.length,
          log: logged,
          transcript: events.flatMap(({ seq, entryId }) =>
            entryId === null ? [] : [{ seq, id: entryId } as Entry],
          ),
          prompts: [row],
        },
      ],
      readings: new Map([["pmt_1", [row, row]]]),
    },
  };
  spoil?.(world);
  return check(world.history, world.observation, { mayExhaust }).violations;
}

const without = (n: number) => goodLog.filter((_, at) => at !== n);
const replaced = (from: number, count: number, ...drafts: Draft[]) =>
  goodLog.toSpliced(from, count, ...drafts);
const session = (world: World) => world.observation.sessions[0] as Observation["sessions"][number];

describe("the checker", () => {
  it("finds nothing in a correct history", () => {
    expect(violationsOf({})).toEqual([]);
  });

  it("counts acknowledged requests", () => {
    const { figures } = check(
      emptyHistory(),
      { sessions: [], readings: new Map() },
      { mayExhaust: false },
    );
    expect(figures).toEqual({ acknowledged: 0, outcomes: {}, events: 0 });
  });

  const planted: Record<string, [Plant, RegExp]> = {
    "a lost prompt": [
      { spoil: ({ observation }) => observation.readings.set("pmt_1", [null, null]) },
      /^lost: acknowledged prompt pmt_1/,
    ],
    "a prompt that vanished between two readings": [
      { spoil: ({ observation }) => observation.readings.set("pmt_1", [goodPrompt, null]) },
      /^lost:/,
    ],
    "changed content": [{ prompt: { content: "say b" } }, /^changed: pmt_1/],
    "a prompt that never settles": [
      { prompt: { state: "running", outcome: null } },
      /^stuck: pmt_1 .*running/,
    ],
    "two outcomes in two readings": [
      {
        spoil: ({ observation }) =>
          observation.readings.set("pmt_1", [goodPrompt, { ...goodPrompt, outcome: "failed" }]),
      },
      /^two outcomes: pmt_1/,
    ],
    "two outcomes in the log": [
      { log: [...goodLog, { type: "prompt_settled", reason: "aborted", ...RUN }] },
      /^outcome: pmt_1 .*\[completed,aborted\]/,
    ],
    "a prompt that was admitted twice": [
      {
        spoil: (world) =>
          session(world).prompts.push({ ...goodPrompt, id: "pmt_2", startedAt: null }),
      },
      /admitted 2 times/,
    ],
    "a withdrawal that was forgotten": [
      { spoil: ({ history }) => history.withdrawn.push("pmt_1") },
      /^withdrawal lost: pmt_1/,
    ],
    "a log that was taken back": [
      { spoil: ({ history }) => history.reached.push({ sessionId: "ses_1", lastSeq: 99 }) },
      /^log taken back: ses_1/,
    ],
    "a write to a run that was parked": [
      { log: replaced(8, 0, { type: "run_parked", ...RUN }) },
      /run_1 has pre_tool while nobody holds it/,
    ],
    "a request of somebody who does not hold the run": [
      { log: replaced(7, 0, { type: "model_call", data: { step: 1 }, ...RUN }) },
      /run_1 has model_call while nobody holds it/,
    ],
    "a run that is parked by somebody who does not hold it": [
      { log: replaced(7, 0, { type: "run_parked", ...RUN }) },
      /run_1 has run_parked while nobody holds it/,
    ],
    "a gap in the log": [
      { spoil: (world) => session(world).log.splice(4, 1) },
      /^gap: ses_1 has 6 where 5/,
    ],
    "a follower who missed an event": [
      { spoil: ({ history }) => history.followers[0]?.sightings.splice(3, 1) },
      /follower missed 4 to 4/,
    ],
    "a follower who saw an event twice": [
      {
        spoil: ({ history }) =>
          history.followers[0]?.sightings.splice(3, 0, { seq: 3, digest: "d3" }),
      },
      /follower saw 3 twice/,
    ],
    "a follower who saw what is not there": [
      {
        spoil: ({ history }) =>
          history.followers[0]?.sightings.splice(3, 1, { seq: 4, digest: "x" }),
      },
      /^taken back: follower saw 4/,
    ],
    "a follower who stands still": [
      { spoil: ({ history }) => history.followers[0]?.sightings.splice(10) },
      /follower stands still at 10 of 13/,
    ],
    "a step done twice": [
      { log: replaced(8, 0, { ...say(0, "a begins"), entryId: "ent_again" }) },
      /^turn: pmt_1 .*item 2/,
    ],
    "a step left out": [{ log: without(5) }, /^turn: pmt_1 .*item 1/],
    "steps out of order": [
      { log: replaced(8, 3, say(3, "token1 token2"), call("pre_tool"), call("post_tool")) },
      /^turn: pmt_1 .*item 2/,
    ],
    "a completed turn that stopped early": [{ log: without(10) }, /has 3 of 4 items/],
    "a partial item in a completed turn": [
      {
        log: replaced(11, 0, { ...say(3, "token1"), entryId: "ent_x", data: { partial: true } }),
      },
      /completed with a partial item/,
    ],
    "a call without an answer": [
      { log: replaced(9, 4, ...goodLog.slice(11)), prompt: { outcome: "aborted" } },
      /leaves the call call_1 without an answer/,
    ],
    "a prompt that stands twice in the history": [
      { log: replaced(4, 0, { ...(goodLog[3] as Draft), entryId: "ent_p2" }) },
      /is 2 times in the history/,
    ],
    "an entry shown twice": [
      { log: replaced(10, 1, { ...say(3, "token1 token2"), entryId: "ent_0" }) },
      /has an entry twice/,
    ],
    "a transcript that lacks an entry": [
      { spoil: (world) => session(world).transcript.pop() },
      /^transcript: ses_1 shows 4 entries, its log has 5/,
    ],
    "a write while nobody holds the run": [
      { log: replaced(5, 2, lost(1), say(0, "a begins")) },
      /run_1 has message while nobody holds it/,
    ],
    "a write after the end of the run": [
      { log: replaced(10, 2, goodLog[11] as Draft, goodLog[10] as Draft) },
      /run_1 has message after its end/,
    ],
    "two claims at once": [{ log: without(6) }, /run_1 is claimed twice at once/],
    "a fence that was used before": [
      { log: replaced(7, 1, claimed(1)) },
      /claimed with fence 1 after 1/,
    ],
    "two runs of one session at once": [
      { log: replaced(5, 0, { ...claimed(1), runId: "run_2" }) },
      /run_2 is claimed while run_1 is held/,
    ],
    "a run that is held to the end": [{ log: without(11) }, /run_1 is held to the end/],
    "a failure without a reason": [
      { prompt: { outcome: "failed", error: { code: "runtime_error", message: "" } } },
      /^failed: pmt_1 .*runtime_error/,
    ],
    "attempts that ran out without being lost": [
      {
        prompt: { outcome: "failed", error: { code: "attempts_exhausted", message: "" } },
        mayExhaust: true,
      },
      /^failed: pmt_1 after 1 losses/,
    ],
    "a merge into nothing": [
      { prompt: { outcome: "merged", mergedInto: "pmt_9" } },
      /^merged: pmt_1/,
    ],
    "a turn superseded by nothing": [
      { prompt: { outcome: "superseded", supersededBy: "pmt_9" } },
      /^superseded: pmt_1/,
    ],
    "an answer nobody may get": [
      { spoil: ({ history }) => history.badAnswers.push("POST /x: 500") },
      /^bad answer: POST \/x: 500/,
    ],
    "prompts that overtook each other": [
      {
        spoil: (world) => {
          const { log, prompts } = session(world);
          const accepted = eventsOf([{ type: "prompt_accepted", promptId: "pmt_0" }]);
          const begun = eventsOf([{ type: "message", kind: "prompt", promptId: "pmt_0" }]);
          prompts.push({ ...goodPrompt, id: "pmt_0" });
          log.splice(1, 0, { event: accepted[0] as SessionEvent, digest: "" });
          log.push({ event: begun[0] as SessionEvent, digest: "" });
        },
      },
      /^order: ses_1 began pmt_1 before pmt_0/,
    ],
  };

  it.each(Object.entries(planted))("notices %s", (_, [plant, expected]) => {
    expect(violationsOf(plant)).toEqual(expect.arrayContaining([expect.stringMatching(expected)]));
  });
});

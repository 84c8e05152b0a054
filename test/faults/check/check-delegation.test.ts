import { describe, expect, it } from "vitest";
import { INTERRUPTED, type SessionEvent } from "#protocol/events.ts";
import type { Prompt } from "#protocol/sessions.ts";
import type { HouseholdObservation, ObservedMember } from "../delegation/come-to-rest.ts";
import { checkDelegation, type DelegationEvidence } from "./check-delegation.ts";

type Draft = Partial<SessionEvent> & Pick<SessionEvent, "type">;

const PARENT = { id: "ses_p", name: "p" };
const OTHER = { id: "ses_q", name: "q" };

const call = (callId: string, toolName: string, toolInput: unknown): Draft => ({
  type: "pre_tool",
  promptId: "pmt_0",
  toolName,
  toolInput,
  data: { callId },
});
const answer = (callId: string, toolName: string, rest: Partial<SessionEvent>): Draft => ({
  type: "post_tool",
  promptId: "pmt_0",
  toolName,
  error: null,
  data: { callId },
  ...rest,
});
const spawn = (title: string): Draft => call(title, "spawn_session", { title, prompt: "…" });
const spawned = (title: string, sessionId: string): Draft =>
  answer(title, "spawn_session", { toolOutput: JSON.stringify({ sessionId }) });
const wake = (...lines: string[]): Draft => ({
  type: "message",
  kind: "prompt",
  content: [{ type: "text", text: ["[orchestration] news", "", ...lines].join("\n") }],
});
const item = (type: string, child: string, rest: string) =>
  `1. ${type}: ${JSON.stringify(titles[child] ?? child)} (${child}) ${rest}.`;

const titles: Record<string, string> = {
  ses_a: "p.1.open",
  ses_b: "p.2.own",
  ses_c: "p.3.open",
};

/**
 * Three children: one asks, completes and is deleted; one is ended by its parent; one fails and is
 * stopped.
 */
const parentLog = {
  spawnA: spawn("p.1.open"),
  spawnedA: spawned("p.1.open", "ses_a"),
  spawnB: spawn("p.2.own"),
  spawnedB: spawned("p.2.own", "ses_b"),
  spawnC: spawn("p.3.open"),
  spawnedC: spawned("p.3.open", "ses_c"),
  asked: wake(item("worker.ask_user", "ses_a", "asks a question and is waiting for the answer")),
  endedA: wake(item("worker.ended", "ses_a", "ended its turn (completed)"), "> R-a1"),
  letter: wake(
    item("worker.notified", "ses_a", "sent you a message and continues working"),
    "> N-a1",
  ),
  deletedA: answer("look", "wait_for_event", {
    toolOutput: JSON.stringify({
      events: `1. worker.deleted: "p.1.open" (ses_a) was ended by somebody else.`,
    }),
  }),
  kill: call("kill", "terminate_session", { sessionId: "ses_b" }),
  killed: answer("kill", "terminate_session", { toolOutput: "{}" }),
  failedC: wake(item("worker.ended", "ses_c", "ended its turn (failed) [model_refused]")),
  stoppedC: answer("inbox", "orchestrate_read_inbox", {
    toolOutput: JSON.stringify({
      items: [
        {
          type: "worker.stopped_without_end",
          workerId: "ses_c",
          workerName: "p.3.open",
          payload: { outcome: "aborted" },
        },
      ],
    }),
  }),
};

const settled = (promptId: string, reason: string, data: object = {}): Draft => ({
  type: "prompt_settled",
  promptId,
  runId: `run_${promptId}`,
  reason,
  data: { ...data },
});
const said = (promptId: string, text: string): Draft => ({
  type: "message",
  kind: "text",
  promptId,
  content: [{ type: "text", text }],
});
const lifecycle = (to: string): Draft => ({
  type: "session_updated",
  reason: to,
  data: { lifecycle: to },
});

const claimed: Draft = { type: "run_claimed", runId: "run_a2" };

const childLogs = {
  ses_a: {
    opened: { type: "gate_opened", data: { gateId: "g1", kind: "question" } } as Draft,
    closed: { type: "gate_closed", data: { gateId: "g1", by: "user:u" } } as Draft,
    notified: answer("n", "notify_parent", { toolInput: { message: "N-a1" } }),
    said: said("a1", "R-a1"),
    settled: settled("a1", "completed"),
    archived: lifecycle("archived"),
  },
  ses_b: {
    terminated: lifecycle("terminated"),
    stopping: { type: "run_stopping", runId: "run_b1", reason: "stop" } as Draft,
    settled: settled("b1", "aborted"),
  },
  ses_c: {
    failed: settled("c1", "failed", { code: "model_refused" }),
    stopping: { type: "run_stopping", runId: "run_c2", reason: "stop" } as Draft,
    stopped: settled("c2", "aborted"),
    replaced: settled("c3", "aborted", { supersededBy: "c4" }),
    steered: settled("c4", "superseded", { supersededBy: "c5" }),
  },
};

interface Plant {
  parent?: Partial<Record<keyof typeof parentLog, Draft | Draft[] | null>>;
  other?: Draft[];
  a?: Partial<Record<keyof (typeof childLogs)["ses_a"], Draft | Draft[] | null>>;
  b?: Partial<Record<keyof (typeof childLogs)["ses_b"], Draft | Draft[] | null>>;
  c?: Partial<Record<keyof (typeof childLogs)["ses_c"], Draft | Draft[] | null>>;
  more?: { id: string; title: string }[];
  /** Prompts of the third child. */
  prompts?: object[];
  shown?: string[];
  shownToOther?: string[];
  deeds?: DelegationEvidence["deeds"];
}

function member(id: string, title: string, drafts: readonly Draft[]): ObservedMember {
  const blank = { kind: null, content: null, thread: "main", toolName: null, data: null };
  const log = drafts.map((draft, n) => ({
    event: { ...blank, promptId: null, runId: null, reason: null, seq: n + 1, ...draft },
    digest: "",
  }));
  return {
    id,
    title,
    runtime: "played",
    parentSessionId: null,
    lifecycle: "active",
    lastSeq: log.length,
    log: log as unknown as ObservedMember["log"],
    transcript: [],
    prompts: [],
  };
}

type Drafts = Readonly<Record<string, Draft | Draft[] | null>>;

const planted = (base: Drafts, changes: Drafts = {}): Draft[] =>
  Object.values({ ...base, ...changes }).flatMap((one) => one ?? []);

const prompt = (id: string, outcome: string, content: string) =>
  ({ id, outcome, content, author: { id: PARENT.id } }) as Prompt;

function judge(plant: Plant = {}) {
  const parent = member(PARENT.id, "p", planted(parentLog, plant.parent));
  const children = [
    { ...member("ses_a", "p.1.open", planted(childLogs.ses_a, plant.a)) },
    { ...member("ses_b", "p.2.own", planted(childLogs.ses_b, plant.b)) },
    { ...member("ses_c", "p.3.open", planted(childLogs.ses_c, plant.c)) },
    ...(plant.more ?? []).map(({ id, title }) => member(id, title, [])),
  ];
  (children[0] as ObservedMember).prompts = [prompt("a1", "completed", "SAY R-a1")];
  (children[2] as ObservedMember).prompts = (plant.prompts ?? [
    { id: "c4", startedAt: "now", outcome: "superseded" },
    { id: "c5", startedAt: "now", outcome: "failed" },
  ]) as Prompt[];
  const sessions = [parent, member(OTHER.id, "q", plant.other ?? []), ...children];
  const observation: HouseholdObservation = { sessions, readings: new Map() };
  return checkDelegation(observation, {
    parents: [PARENT, OTHER],
    shown: new Map([
      ["p", new Set(plant.shown ?? ["a1"])],
      ["q", new Set(plant.shownToOther ?? [])],
    ]),
    deeds: plant.deeds ?? [{ childId: "ses_a", what: "archived" }],
  });
}

describe("the checker of parents and children", () => {
  it("finds nothing in a correct history", () => {
    const { violations, figures } = judge();
    expect(violations).toEqual([]);
    expect(figures).toEqual({ children: 3, endings: 4, questions: 1, letters: 1, told: 6, own: 1 });
  });

  it("accepts that a parent is not notified of a question that it answered before", () => {
    const closed: Draft = { type: "gate_closed", data: { gateId: "g1", by: "session:ses_p" } };
    expect(judge({ a: { closed }, parent: { asked: null } }).violations).toEqual([]);
    expect(judge({ a: { closed } }).violations).toEqual([]);
  });

  it("expects no notification of a child that archived itself", () => {
    const done = answer("done", "complete_session", { promptId: "a1" });
    const said = {
      ...childLogs.ses_a.said,
      content: [{ type: "text", text: "Calling complete_session. " }],
    };
    const plant: Plant = { a: { said: [done, said] }, parent: { deletedA: null } };
    expect(judge(plant).violations).toEqual([]);
    const byPerson = { a: { ...plant.a, settled: [childLogs.ses_a.settled, claimed] } };
    expect(judge(byPerson).violations).toEqual([]);
  });

  it("expects no result of a child that needed a parent and lost it", () => {
    const saying = (text: string) => ({
      a: { said: { ...childLogs.ses_a.said, content: [{ type: "text", text }] } },
    });
    const lacks = (tool: string) => saying(`No such tool ${tool}; there are: bash, read`);
    for (const tool of ["notify_parent", "request_plan_approval"])
      expect(judge(lacks(tool)).violations).toEqual([]);
    expect(judge(lacks("bash")).violations).toEqual([
      expect.stringMatching(/^result: a1 .* was to say a1/),
    ]);
  });

  it("expects a notification of a turn replaced by a prompt that was withdrawn", () => {
    const steered = settled("c4", "superseded", { supersededBy: "c5" });
    const takenBack: Draft = { type: "prompt_settled", promptId: "c5", reason: "withdrawn" };
    const prompts = [{ id: "c5", startedAt: null, outcome: "withdrawn", author: { id: "usr" } }];
    const twice = { stoppedC: [parentLog.stoppedC, parentLog.stoppedC] };
    const later: Plant = { c: { steered: [steered, takenBack] }, prompts };
    const before: Plant = { c: { steered: [takenBack, steered] }, prompts };
    for (const plant of [later, before]) {
      expect(judge({ ...plant, parent: twice }).violations).toEqual([]);
      expect(judge(plant).violations).toEqual([
        expect.stringMatching(/^told: worker.stopped_without_end .* 1 times instead of 2/),
      ]);
    }
  });

  it("expects a notification of a turn that its parent stopped and that ended normally all the same", () => {
    const ended = settled("b1", "failed", { code: "model_refused" });
    const plant: Plant = { b: { terminated: null, settled: ended } };
    expect(judge(plant).violations).toEqual([
      expect.stringMatching(/^told: worker.ended of ses_b .* 0 times instead of 1/),
    ]);
    const stopped: Plant = { b: { terminated: null } };
    expect(judge(stopped).violations).toEqual([]);
  });

  const endedTwice = [parentLog.endedA, parentLog.endedA];
  const cases: Record<string, [Plant, RegExp]> = {
    "an ending nobody was told of": [
      { parent: { endedA: null }, shown: [] },
      /^told: worker.ended a1 .* 0 times/,
    ],
    "an ending that was told twice": [
      { parent: { endedA: endedTwice } },
      /^told: worker.ended a1 .* 2 times/,
    ],
    "a question that was lost": [{ parent: { asked: null } }, /^told: worker.ask_user .* 0 times/],
    "a stop that was lost": [
      { parent: { stoppedC: null } },
      /^told: worker.stopped_without_end .* 0 times/,
    ],
    "a failure that was lost": [
      { parent: { failedC: null } },
      /^told: worker.ended of ses_c .* 0 times/,
    ],
    "a deletion that was lost": [
      { parent: { deletedA: null } },
      /^told: worker.deleted .* 0 times/,
    ],
    "a deletion told twice": [
      { parent: { deletedA: [parentLog.deletedA, parentLog.deletedA] } },
      /^told: worker.deleted .* 2 times/,
    ],
    "a detachment that was lost": [
      {
        c: { failed: [{ type: "session_updated", reason: "detached" }] },
        parent: { failedC: null },
      },
      /^told: worker.detached .* 0 times instead of 1/,
    ],
    "news of a child after it was let go": [
      { c: { failed: [{ type: "session_updated", reason: "detached" }, childLogs.ses_c.failed] } },
      /^told: worker.ended of ses_c .* 1 times instead of 0/,
    ],
    "news of what the parent did itself": [
      {
        parent: {
          killed: [
            parentLog.killed,
            wake(item("worker.stopped_without_end", "ses_b", "was stopped before it finished")),
            wake(item("worker.deleted", "ses_b", "was ended by somebody else")),
          ],
        },
      },
      /^told: worker.deleted of ses_b .* 1 times instead of 0/,
    ],
    "news of a turn that was only replaced": [
      {
        parent: {
          stoppedC: [
            parentLog.stoppedC,
            wake(item("worker.stopped_without_end", "ses_c", "was stopped before it finished")),
          ],
        },
      },
      /^told: worker.stopped_without_end of ses_c .* 2 times instead of 1/,
    ],
    "news for another parent": [
      { parent: { endedA: null }, other: [parentLog.endedA], shown: [], shownToOther: ["a1"] },
      /^told: ses_q .* was for ses_p/,
    ],
    "news in another conversation": [
      { parent: { endedA: { ...parentLog.endedA, thread: "side" } } },
      /^told: ses_p .* was for ses_p in main/,
    ],
    "news of nobody": [
      {
        parent: {
          failedC: [
            parentLog.failedC,
            wake(item("worker.ended", "ses_x", "ended its turn (failed)")),
          ],
        },
      },
      /^told: ses_p .* of a child that does not exist/,
    ],
    "the result of another turn": [
      {
        parent: {
          endedA: wake(item("worker.ended", "ses_a", "ended its turn (completed)"), "> R-zz"),
        },
      },
      /^told: worker.ended zz .* 1 times instead of 0/,
    ],
    "two children of one call": [
      { more: [{ id: "ses_a2", title: "p.1.open" }] },
      /^spawn: .* made 2 children/,
    ],
    "a child of no call": [
      { more: [{ id: "ses_z", title: "p.9.open" }] },
      /^spawn: ses_z .* without a call/,
    ],
    "a child that was lost": [
      { parent: { spawnedC: [parentLog.spawnedC, spawn("p.4.own"), spawned("p.4.own", "ses_d")] } },
      /^spawn: .*p.4.own\) named ses_d, and there is undefined/,
    ],
    "a call that names another child": [
      { parent: { spawnedC: spawned("p.3.open", "ses_a") } },
      /^spawn: .* named ses_a, and there is ses_c/,
    ],
    "a refused call that made a child": [
      { parent: { spawnedC: answer("p.3.open", "spawn_session", { error: "no" }) } },
      /^spawn: .* was refused and made a child/,
    ],
    "a child that its parent does not know of": [
      { parent: { spawnedC: answer("p.3.open", "spawn_session", { error: INTERRUPTED }) } },
      /^spawn: .* does not know of/,
    ],
    "a deletion that was acknowledged and is not there": [
      { deeds: [{ childId: "ses_c", what: "terminated" }] },
      /^deed: ses_c/,
    ],
    "a child that said something else": [
      { a: { said: said("a1", "R-b7") } },
      /^result: a1 .* was to say a1/,
    ],
    "a letter that was lost": [
      { parent: { letter: null } },
      /^told: worker.notified a1 .* 0 times/,
    ],
    "a letter that came twice": [
      { parent: { letter: [parentLog.letter, parentLog.letter] } },
      /^told: worker.notified a1 .* 2 times/,
    ],
    "a letter that was refused and came": [
      {
        a: {
          notified: answer("n", "notify_parent", { toolInput: { message: "N-a1" }, error: "no" }),
        },
      },
      /^told: worker.notified a1 .* 1 times instead of 0/,
    ],
    "a result that no model was shown": [
      { shown: [] },
      /^shown: ses_p was told a1, its model was not/,
    ],
    "a result that another's model was shown": [
      { shownToOther: ["a1"] },
      /^shown: the model of ses_q saw a1/,
    ],
  };

  it.each(Object.entries(cases))("notices %s", (_, [plant, expected]) => {
    expect(judge(plant).violations).toEqual(
      expect.arrayContaining([expect.stringMatching(expected)]),
    );
  });
});

import { describe, expect, it } from "vitest";
import { INTERRUPTED, type SessionEvent } from "#protocol/events.ts";
import type { Prompt } from "#protocol/sessions.ts";
import type { SentDecision } from "../clients/decider.ts";
import type { ObservedSession } from "../history.ts";
import { checkNative } from "./check-native.ts";
import { checkTurns } from "./check-turns.ts";

const PROMPT = {
  id: "pmt_1",
  outcome: "completed",
  attempts: 2,
  startedAt: "2026-01-01T00:00:00.000Z",
  content: [
    "m1",
    'CALL bash {"command": "echo m1:1 >> tokens"}',
    'ALSO bash {"command": "echo m1:2 >> tokens; git push"}',
    'CALL ask_user_question {"questions": [{"question": "And?"}]}',
    "SAY m1 is over",
  ].join("\n"),
} as Prompt;

type Draft = Partial<SessionEvent> & Pick<SessionEvent, "type">;

const claimed = (fence: number): Draft => ({ type: "run_claimed", data: { fence } });
const lost: Draft = { type: "run_lost" };
const said = (step: number, text: string): Draft => ({
  type: "message",
  entryId: `ent_${step}`,
  kind: "text",
  role: "assistant",
  content: [{ type: "text", text }],
  data: { step },
});
const response = (step: number): Draft => ({ type: "model_call", data: { step } });
const called = (callId: string, step: number, verdict: string, toolInput: unknown): Draft => ({
  type: "pre_tool",
  entryId: `ent_${callId}`,
  kind: "tool_call",
  role: "assistant",
  toolInput,
  data: { step, callId, verdict: { verdict, reason: null } },
});
const result = (callId: string, step: number, more: Partial<SessionEvent> = {}): Draft => ({
  type: "post_tool",
  entryId: `ent_${callId}_result`,
  kind: "tool_result",
  role: "assistant",
  error: null,
  data: { step, callId },
  ...more,
});
const opened = (callId: string, kind = "approval"): Draft => ({
  type: "gate_opened",
  data: { gateId: `apr_${callId}`, callId, kind },
});
const closed = (callId: string, reason = "decided", allowed = true): Draft => ({
  type: "gate_closed",
  reason,
  data: { gateId: `apr_${callId}`, callId, allowed },
});

/** Lost in its first command; then a push is allowed and a question answered. */
const good = {
  prompt: {
    type: "message",
    kind: "prompt",
    role: "user",
    entryId: "ent_p",
    content: [{ type: "text", text: PROMPT.content }],
  },
  claim1: claimed(1),
  text1: said(1, "Calling bash and bash. "),
  call1: called("c1", 1, "allow", { command: "echo m1:1 >> tokens" }),
  call2: called("c2", 1, "ask", { command: "echo m1:2 >> tokens; git push" }),
  response1: response(1),
  lost1: lost,
  claim2: claimed(2),
  result1: result("c1", 1, { error: INTERRUPTED }),
  open2: opened("c2"),
  park2: { type: "run_parked" },
  close2: closed("c2"),
  claim3: claimed(3),
  result2: result("c2", 1),
  text2: said(2, "Calling ask_user_question. "),
  call3: called("c3", 2, "ask", {}),
  response2: response(2),
  open3: opened("c3", "question"),
  park3: { type: "run_parked" },
  close3: closed("c3"),
  claim4: claimed(4),
  result3: result("c3", 2, { toolOutput: "And?\n→ tea" }),
  text3: said(3, "m1 is over"),
  response3: response(3),
} satisfies Record<string, Draft>;

const goodDecisions: SentDecision[] = [
  { gateId: "apr_c2", allowed: true, words: null, acknowledged: true },
  { gateId: "apr_c3", allowed: true, words: "tea", acknowledged: true },
];

interface Plant {
  /** Replaces the entries of these names in the good log; null removes one. */
  log?: { [name in keyof typeof good]?: Draft | Draft[] | null };
  prompt?: Partial<Prompt>;
  tokens?: string[];
  /** Requests to the model. */
  asked?: number;
  decisions?: SentDecision[];
}

function violationsOf(plant: Plant): string[] {
  const { log: changed = {}, tokens = ["m1:1", "m1:2"], asked = 4 } = plant;
  const drafts = Object.entries(good).flatMap(([name, draft]): Draft[] => {
    const other = changed[name as keyof typeof good];
    return other === undefined ? [draft] : other === null ? [] : [other].flat();
  });
  const events = drafts.map(
    (draft, n) =>
      ({ seq: n + 1, promptId: "pmt_1", runId: "run_1", entryId: null, ...draft }) as SessionEvent,
  );
  const session: ObservedSession = {
    id: "ses_1",
    runtime: "native",
    lastSeq: events.length,
    log: events.map((event) => ({ event, digest: "" })),
    transcript: [],
    prompts: [{ ...PROMPT, ...plant.prompt }],
  };
  const evidence = {
    tokens: new Map([["ses_1", tokens]]),
    requestTexts: Array.from({ length: asked }, () => PROMPT.content),
    decisions: plant.decisions ?? goodDecisions,
  };
  const { violations } = checkNative({ sessions: [session], readings: new Map() }, evidence);
  return [...violations, ...checkTurns(session)];
}

const no = (words: string): SentDecision[] => [
  { gateId: "apr_c2", allowed: false, words, acknowledged: true },
  ...goodDecisions.slice(1),
];

describe("the checker of native turns", () => {
  const allowed: Record<string, Plant> = {
    "a good turn": {},
    "an interrupted call that was not performed": { tokens: ["m1:2"] },
    "a loss that wasted no request": { asked: 3 },
    "an allowed call whose attempt was lost before it began": {
      log: {
        claim3: [claimed(3), lost, claimed(4)],
        result2: result("c2", 1, { error: INTERRUPTED }),
      },
      tokens: ["m1:1"],
      prompt: { attempts: 3 },
    },
    "a no that was told": {
      log: {
        close2: closed("c2", "decided", false),
        result2: result("c2", 1, { error: "They said: not now" }),
      },
      tokens: ["m1:1"],
      decisions: no("not now"),
    },
    "two decisions at once, of which one counted": {
      decisions: [
        { gateId: "apr_c2", allowed: false, words: "no", acknowledged: false },
        ...goodDecisions,
      ],
    },
  };
  for (const [name, plant] of Object.entries(allowed))
    it(`lets ${name} pass`, () => expect(violationsOf(plant)).toEqual([]));

  const planted: Record<string, [Plant, RegExp]> = {
    "a call that was performed twice": [
      { tokens: ["m1:1", "m1:1", "m1:2"] },
      /^call: c1 .* performed 2 times/,
    ],
    "an allowed call that was performed twice": [
      { tokens: ["m1:1", "m1:2", "m1:2"] },
      /^call: c2 .* performed 2 times/,
    ],
    "a result of what was never performed": [{ tokens: ["m1:1"] }, /^call: c2 .* not performed/],
    "something done that is not in the log": [
      { tokens: ["m1:1", "m1:2", "m9:1"] },
      /^stray: ses_1 performed m9:1/,
    ],
    "a call that failed by itself": [
      { log: { result1: result("c1", 1, { error: "no sandbox" }) } },
      /^call: c1 .* failed: no sandbox/,
    ],
    "an unknown outcome without a loss": [
      { log: { lost1: null, claim2: null }, prompt: { attempts: 1 }, asked: 3 },
      /^call: c1 .* no runner was lost/,
    ],
    "a call without a result": [{ log: { result1: null } }, /without an answer/],
    "a response that is there twice": [
      { log: { text3: [said(3, "m1 is over"), said(3, "m1 is over")] } },
      /^turn: pmt_1 .* as item/,
    ],
    "a response that was counted twice": [
      { log: { response3: [response(2), response(3)] } },
      /^requests: pmt_1 has the responses \[1,2,2,3\]/,
    ],
    "a request too many": [{ asked: 5 }, /^requests: .* asked 5 times for 3 responses/],
    "a response nobody asked for": [{ asked: 2 }, /^requests: .* 3 responses to 2 requests/],
    "an attempt that waiting has used up": [{ prompt: { attempts: 4 } }, /^attempts: .* counts 4/],
    "a second gate for a call": [
      {
        log: {
          open2: [opened("c2"), { ...opened("c2"), data: { gateId: "apr_x", callId: "c2" } }],
        },
      },
      /^asked: c2 .* 2 gates/,
    ],
    "a gate that was closed twice": [
      { log: { close2: [closed("c2"), closed("c2")] } },
      /^gate: apr_c2 .* closed 2 times/,
    ],
    "a gate that is left open": [{ log: { close2: null } }, /^gate: apr_c2 .* closed 0 times/],
    "a yes that was lost": [
      { log: { close2: closed("c2", "cancelled", false) } },
      /^gate: apr_c2 .* lost: a yes was acknowledged/,
    ],
    "a yes that became a no": [
      { log: { close2: closed("c2", "decided", false) } },
      /lost: a yes was acknowledged, .* as a no/,
    ],
    "a decision that nobody made": [
      { decisions: goodDecisions.slice(1) },
      /^gate: apr_c2 .* which nobody said/,
    ],
    "two answers that both counted": [
      { decisions: [...no("x"), ...goodDecisions] },
      /^gate: apr_c2 .* acknowledged two decisions/,
    ],
    "a call that was not asked about": [
      { log: { open2: null, close2: null } },
      /^asked: c2 .* without a yes/,
    ],
    "a denied call that was performed": [
      { log: { close2: closed("c2", "decided", false) }, decisions: no("x") },
      /^asked: c2 .* without a yes/,
    ],
    "a no that was told as something else": [
      {
        log: {
          close2: closed("c2", "decided", false),
          result2: result("c2", 1, { error: INTERRUPTED }),
        },
        tokens: ["m1:1"],
        decisions: no("not now"),
      },
      /^asked: c2 .* was denied, and told: interrupted/,
    ],
    "a yes that came to nothing": [
      { log: { result2: result("c2", 1, { error: INTERRUPTED }) }, tokens: ["m1:1"] },
      /^asked: c2 .* no runner was lost that could have begun it/,
    ],
    "an answer that did not arrive": [
      { log: { result3: result("c3", 2, { error: INTERRUPTED }) } },
      /^asked: c3 .* was answered, and told/,
    ],
    "a question about what is allowed": [
      { log: { lost1: [opened("c1"), closed("c1"), lost] }, decisions: goodDecisions },
      /^asked: c1 .* without need/,
    ],
  };
  for (const [name, [plant, message]] of Object.entries(planted))
    it(`finds ${name}`, () =>
      expect(violationsOf(plant)).toEqual(
        expect.arrayContaining([expect.stringMatching(message)]),
      ));
});

/**
 * Judges a tool call before it is performed: the tool must exist and be offered to the session, the
 * input must fit, and policy decides. Judging runs in the transaction that journals the call, so a
 * verdict and its call are one fact.
 */
import type { Verdict } from "#protocol/sessions.ts";
import { gateKindOf, isAvailableTo } from "#protocol/tools.ts";
import type { CallOnRecord } from "../call-facts.ts";
import { findDenial } from "../gates/queries.ts";
import type { RunRow } from "../schema.ts";
import type { FindDenial, SessionWriter, Work } from "../work.ts";
import { type Catalogue, toolUserOf } from "./catalogue.ts";
import { invalidInput, unknownTool } from "./tool.ts";

/** A call whose tool exists and whose input fits. */
export interface CallToJudge {
  session: SessionWriter;
  run: RunRow;
  callId: string;
  tool: string;
  readOnly: boolean;
  input: unknown;
  /** Arguments as the model wrote them, which is how a person sees them. */
  given: unknown;
  /** Text that patterns are matched against. */
  target: string | null;
  /** Working directory of a command, as seen in the sandbox; null for the top of the workspace. */
  cwd: string | null;
  /** True when a call that was allowed before is judged once more before it is performed. */
  isAgain: boolean;
}

export interface Judgement {
  verdict: "allow" | "ask" | "deny";
  /** Reason in words, for the model and for the person who is asked. */
  reason: string | null;
}

/** Judgement of a feature; undefined when it has none. The strictest counts. */
export type Judge = (work: Work, call: CallToJudge) => Promise<Judgement | undefined>;

const NOT_JSON =
  "The arguments are not JSON, so nothing was done. Make the call again with one JSON object that fits the tool.";
const ASKED_BEFORE =
  "This was asked before in this turn and denied. The denial also covers other arguments. Do not try it again; continue without it.";
const SAME_PLAN =
  "You already presented this plan in this turn, and it was not approved. Revise it as requested and present the new one, or end your turn and say why there is none.";
const STRICTNESS = { allow: 0, ask: 1, deny: 2 } as const;

export interface ToolPolicy {
  judge(work: Work, session: SessionWriter, run: RunRow, call: CallOnRecord): Promise<Verdict>;
  /** Judges a call again that was judged before; see `Engine.findDenial`. */
  findDenial: FindDenial;
}

export function createToolPolicy(catalogue: Catalogue, judges: readonly Judge[]): ToolPolicy {
  return {
    async judge(work, session, run, request) {
      const read = readCall(catalogue, session, run, request);
      if ("invalid" in read) return { verdict: "invalid", reason: read.invalid };
      const judgement = await strictest(work, judges, { ...read, isAgain: false });
      const settled = await settleWhoIsAsked(work, read, judgement);
      return { ...settled, target: read.target };
    },
    async findDenial(work, session, run, request) {
      const read = readCall(catalogue, session, run, request);
      // The session may have lost the tool since. A plan or a question performs nothing.
      if ("invalid" in read)
        return gateKindOf(request.tool) === "approval" ? read.invalid : undefined;
      const { verdict, reason } = await strictest(work, judges, { ...read, isAgain: true });
      return verdict === "deny" ? (reason ?? "This is no longer allowed.") : undefined;
    },
  };
}

type ReadCall = Omit<CallToJudge, "isAgain">;

function readCall(
  catalogue: Catalogue,
  session: SessionWriter,
  run: RunRow,
  { callId, tool: name, input, cwd = null }: CallOnRecord,
): ReadCall | { invalid: string } {
  const user = toolUserOf(session.row);
  const tool = catalogue.find(name, input, user);
  // A tool that only others have gets the same answer as a tool that does not exist.
  if (!tool || !isAvailableTo(tool, user))
    return { invalid: unknownTool(name, catalogue.namesFor(session.row)) };
  if (typeof input === "string") return { invalid: NOT_JSON };
  const parsed = tool.schema.safeParse(input);
  if (!parsed.success) return { invalid: invalidInput(name, parsed.error) };
  return {
    session,
    run,
    callId,
    tool: tool.name,
    readOnly: tool.readOnly,
    input: parsed.data,
    given: input,
    target: tool.target(parsed.data),
    cwd,
  };
}

async function strictest(
  work: Work,
  judges: readonly Judge[],
  call: CallToJudge,
): Promise<Judgement> {
  let result: Judgement = {
    verdict: gateKindOf(call.tool) === "approval" ? "allow" : "ask",
    reason: null,
  };
  for (const judge of judges) {
    const judgement = await judge(work, call);
    if (judgement && STRICTNESS[judgement.verdict] > STRICTNESS[result.verdict]) result = judgement;
  }
  return result;
}

/** A gate needs somebody who can answer, and a denial holds for the rest of the turn. */
async function settleWhoIsAsked(
  work: Work,
  { session, run, tool, target, given }: ReadCall,
  judgement: Judgement,
): Promise<Judgement> {
  if (judgement.verdict !== "ask") return judgement;
  const isPlan = gateKindOf(tool) === "plan";
  // The parent session may decide about a plan.
  if (session.row.owner_id === null && !isPlan) {
    return {
      verdict: "deny",
      reason: `${tool} needs a person's approval here, and nobody can give it for this session.`,
    };
  }
  // A plan that was sent back may be presented again under the same title.
  const call = { tool, target: isPlan ? null : target, input: given };
  const denied = await findDenial(work.tx, run.prompt_id, call);
  if (!denied) return judgement;
  return {
    verdict: "deny",
    reason: isPlan ? SAME_PLAN : ASKED_BEFORE,
  };
}

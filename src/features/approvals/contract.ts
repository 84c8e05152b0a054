/** Approvals on the wire. */
import * as z from "zod";
import { apiRoute } from "#protocol/api-route.ts";
import { isoTime, pageOf, pageQuery } from "#protocol/page.ts";

export const APPROVAL_SCOPES = ["once", "session", "always"] as const;
const DECISIONS = ["allow", "deny", "revise"] as const;
const APPROVAL_STATES = ["pending", "decided", "expired", "cancelled"] as const;
export const MAX_ANSWER_CHARS = 4_000;

const approvalSchema = z
  .object({
    id: z.string(),
    kind: z.enum(["approval", "question", "plan"]),
    sessionId: z.string(),
    promptId: z.string(),
    runId: z.string(),
    callId: z.string(),
    tool: z.string(),
    target: z.string().nullable(),
    /**
     * The call that is decided: `{tool, input, reason, cwd, sandboxed}`; `cwd` is null at the top of the
     * workspace.
     */
    shown: z.unknown(),
    askedAt: isoTime,
    expiresAt: isoTime,
    decidedAt: isoTime.nullable(),
    state: z.enum(APPROVAL_STATES),
    /** `revise`: a plan was sent back. */
    decision: z.enum(DECISIONS).nullable(),
    scope: z.enum(APPROVAL_SCOPES).nullable(),
    reason: z.string().nullable(),
    /** Answers to a question, one for each part. */
    answers: z.array(z.string()).nullable(),
    /** A person's id, `session:` and the id of the parent that decided, or `system`. */
    decidedBy: z.string().nullable(),
    /** Id of the approval whose decision, for its session or always, also answered this one. */
    coveredBy: z.string().nullable(),
    /** True if allowing it for the session would also allow this call in the session's children. */
    coversChildren: z.boolean(),
    /** Rule that "always" would create; null when the call can be allowed only once. */
    rulePreview: z
      .object({
        level: z.literal("user"),
        tool: z.string(),
        pattern: z.string(),
        match: z.literal("exact"),
      })
      .nullable(),
  })
  .meta({ id: "Approval" });
export type Approval = z.infer<typeof approvalSchema>;

const decisionSchema = z
  .strictObject({
    /** `revise` sends a plan back: the reason says what to change. */
    decision: z.enum(DECISIONS).optional(),
    scope: z.enum(APPROVAL_SCOPES).optional(),
    reason: z.string().max(MAX_ANSWER_CHARS).optional(),
    /** Answers to a question: one for each part, in order. With `multiple`, one choice per line. */
    answers: z.array(z.string().max(MAX_ANSWER_CHARS)).max(10).optional(),
  })
  .refine(
    ({ decision, answers }) => (decision === undefined) !== (answers === undefined),
    "give either `decision` or, to a question, `answers`",
  );
export type DecisionRequest = z.infer<typeof decisionSchema>;

const approvalListQuery = z.strictObject({
  state: z.enum(APPROVAL_STATES).optional(),
  session: z.string().max(200).optional(),
  ...pageQuery,
});

const TAG = "Approvals";
const APPROVALS = "/api/approvals";
const APPROVAL = `${APPROVALS}/{id}` as const;
const one = z.object({ approval: approvalSchema });

export const approvalsApi = {
  list: apiRoute({
    method: "get",
    path: APPROVALS,
    summary: "Approvals, questions and plans from your agents, newest first",
    tag: TAG,
    query: approvalListQuery,
    response: pageOf(approvalSchema),
  }),
  get: apiRoute({
    method: "get",
    path: APPROVAL,
    summary: "One approval, question or plan",
    tag: TAG,
    response: one,
  }),
  decide: apiRoute({
    method: "post",
    path: APPROVAL,
    summary: "Decide an approval or a plan, or answer a question; the first answer is final",
    tag: TAG,
    body: decisionSchema,
    response: one,
  }),
};

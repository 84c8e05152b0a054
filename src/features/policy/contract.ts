/** Policy on the wire, and its routes. */
import * as z from "zod";
import { apiRoute } from "#protocol/api-route.ts";
import { isoTime, pageOf } from "#protocol/page.ts";

export const RULE_EFFECTS = ["allow", "ask", "deny"] as const;
export const RULE_LEVELS = ["builtin", "user", "org"] as const;
export type RuleEffect = (typeof RULE_EFFECTS)[number];

export const ruleSchema = z
  .object({
    id: z.string(),
    level: z.enum(RULE_LEVELS),
    /** Set if the rule holds for one session only. */
    sessionId: z.string().nullable(),
    /** True if a session's rule also holds for the same calls of its children. */
    coversChildren: z.boolean(),
    /** True for a yes to a command in a sandbox: the same command without one is asked about. */
    sandboxedOnly: z.boolean(),
    /** Name of a tool, or `*` for any. */
    tool: z.string(),
    pattern: z.string(),
    /** `exact`: the pattern equals the target. */
    match: z.enum(["exact", "glob"]),
    effect: z.enum(RULE_EFFECTS),
    note: z.string().nullable(),
    createdBy: z.string().nullable(),
    createdAt: isoTime.nullable(),
  })
  .meta({ id: "Rule" });
export type Rule = z.infer<typeof ruleSchema>;

export const MAX_PATTERN_CHARS = 10_000;
/** Maximum length of a glob, which is compared with every position of a target. */
export const MAX_GLOB_CHARS = 500;
export const MAX_PREVIEW_CHARS = 20_000;

export const newRuleSchema = z.strictObject({
  level: z.enum(["user", "org"]).default("user"),
  sessionId: z.string().max(200).optional(),
  tool: z.string().regex(/^(?:\*|[a-z][a-z0-9_]{0,99})$/, "must be the name of a tool, or *"),
  pattern: z.string().min(1).max(MAX_PATTERN_CHARS),
  match: z.enum(["exact", "glob"]).optional(),
  effect: z.enum(RULE_EFFECTS),
  note: z.string().max(500).optional(),
});
export type NewRule = z.infer<typeof newRuleSchema>;

export const previewRequestSchema = z.strictObject({
  tool: z.string().min(1).max(100),
  target: z.string().max(MAX_PREVIEW_CHARS).nullable().default(null),
  /** Session whose rules and kind of workspace are taken into account. */
  sessionId: z.string().max(200).optional(),
});

export type PreviewRequest = z.infer<typeof previewRequestSchema>;

export const previewSchema = z
  .object({
    effect: z.enum(RULE_EFFECTS),
    reason: z.string(),
    /** The deciding rule; null if none matches. */
    rule: ruleSchema.nullable(),
    /** All rules that match. */
    matched: z.array(ruleSchema),
    /** Commands that a shell command was read as. */
    commands: z.array(z.string()).nullable(),
    opaque: z.boolean(),
  })
  .meta({ id: "PolicyPreview" });
export type Preview = z.infer<typeof previewSchema>;

const TAG = "Policy";
const RULES = "/api/policy/rules";
const oneRule = z.object({ rule: ruleSchema });

export const policyApi = {
  list: apiRoute({
    method: "get",
    path: "/api/policy",
    summary: "The rules that apply to you: your organisation's, your own and the built-in ones",
    tag: TAG,
    response: pageOf(ruleSchema),
  }),
  create: apiRoute({
    method: "post",
    path: RULES,
    summary: "Create a rule: for yourself, for one of your sessions, or (admins) for everyone",
    tag: TAG,
    body: newRuleSchema,
    response: oneRule,
    status: 201,
  }),
  delete: apiRoute({
    method: "delete",
    path: `${RULES}/{id}`,
    summary: "Delete a rule",
    tag: TAG,
    response: oneRule,
  }),
  preview: apiRoute({
    method: "post",
    path: "/api/policy/preview",
    summary: "Preview the decision on a tool call, with the rules that lead to it",
    tag: TAG,
    body: previewRequestSchema,
    response: previewSchema,
  }),
};

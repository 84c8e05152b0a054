import * as z from "zod";
import { command, defineRoute, type Engine, type Route, requireMay } from "#engine/index.ts";
import { pageOf } from "#protocol/page.ts";
import { commandText } from "./bash-commands.ts";
import { builtinRules } from "./builtin-rules.ts";
import { factsOf } from "./call-facts.ts";
import { newRuleSchema, previewRequestSchema, previewSchema, ruleSchema } from "./contract.ts";
import { evaluate } from "./evaluate.ts";
import { isFresh } from "./judge.ts";
import { listRules, listRulesForCall } from "./queries.ts";
import { refuseInAdvance } from "./refuse-in-advance.ts";
import type { UserPrincipal } from "./rules.ts";
import { makeRule, removeRule, requireOwnSession, requireUser, ruleView } from "./rules.ts";

const TAG = "Policy";
const one = z.object({ rule: ruleSchema });

export const policyRoutes: readonly Route[] = [
  defineRoute({
    method: "get",
    path: "/api/policy",
    summary: "The rules that hold for you: the organisation's, your own, the built-in ones",
    tag: TAG,
    response: pageOf(ruleSchema),
    async handle({ engine, principal }) {
      requireMay(principal, "policy.read");
      const { orgId, userId } = requireUser(principal);
      const rows = await engine.store.read((reader) => listRules(reader, orgId, userId));
      const own = rows.map(ruleView);
      const items = [
        ...own.filter(({ level }) => level === "org"),
        ...own.filter(({ level }) => level === "user"),
        ...builtinRules.map(({ rule }) => rule),
      ];
      return { items, next: null };
    },
  }),
  defineRoute({
    method: "post",
    path: "/api/policy/rules",
    summary: "Make a rule: for yourself, for one of your sessions, or (admins) for everyone",
    tag: TAG,
    body: newRuleSchema,
    response: one,
    status: 201,
    async handle({ engine, principal, body }) {
      const user = requireUser(principal);
      const id = engine.ids.mint("rul");
      return { rule: await command(engine, (work) => makeRule(work, user, id, body)) };
    },
  }),
  defineRoute({
    method: "delete",
    path: "/api/policy/rules/{id}",
    summary: "Take a rule away",
    tag: TAG,
    response: one,
    async handle({ engine, principal, params }) {
      const user = requireUser(principal);
      return { rule: await command(engine, (work) => removeRule(work, user, params.id ?? "")) };
    },
  }),
  defineRoute({
    method: "post",
    path: "/api/policy/preview",
    summary: "What would happen to a tool call, and why",
    tag: TAG,
    body: previewRequestSchema,
    response: previewSchema,
    async handle({ engine, principal, body }) {
      requireMay(principal, "policy.read");
      return previewCall(engine, requireUser(principal), body);
    },
  }),
];

async function previewCall(
  engine: Engine,
  user: UserPrincipal,
  { tool, target, sessionId }: z.infer<typeof previewRequestSchema>,
): Promise<z.infer<typeof previewSchema>> {
  const fresh =
    sessionId !== undefined &&
    isFresh(await command(engine, (work) => requireOwnSession(work, user, sessionId)));
  const { orgId, userId } = user;
  const rules = await engine.store.read((reader) =>
    listRulesForCall(reader, { orgId, userId, sessionId: sessionId ?? "", parentId: "", tool }),
  );
  const call = factsOf(tool, target, fresh);
  const { effect, reason, rule, matched } = evaluate(call, rules.map(ruleView));
  const commands = call.shell?.commands.map(commandText).filter((text) => text !== "") ?? null;
  const opaque = call.shell?.opaque ?? false;
  const refusal = refuseInAdvance(call, false);
  if (refusal !== undefined)
    return { effect: "deny", reason: refusal, rule: null, matched, commands, opaque };
  return { effect, reason, rule, matched, commands, opaque };
}

import { command, type Engine, type Route, requireMay, serve } from "#engine/index.ts";
import { type Preview, type PreviewRequest, policyApi } from "./contract.ts";
import { builtinRules } from "./evaluation/builtin-rules.ts";
import { factsOf } from "./evaluation/call-facts.ts";
import { evaluate } from "./evaluation/evaluate.ts";
import { isFresh } from "./evaluation/judge.ts";
import type { UserPrincipal } from "./evaluation/rules.ts";
import {
  makeRule,
  removeRule,
  requireOwnSession,
  requireUser,
  ruleView,
} from "./evaluation/rules.ts";
import { listRules, listRulesForCall } from "./queries.ts";
import { refuseInAdvance } from "./refuse-in-advance.ts";
import { commandText } from "./shell/bash-commands.ts";

export const policyRoutes: readonly Route[] = [
  serve(policyApi.list, async ({ engine, principal }) => {
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
  }),
  serve(policyApi.create, async ({ engine, principal, body }) => {
    const user = requireUser(principal);
    const id = engine.ids.mint("rul");
    return { rule: await command(engine, (work) => makeRule(work, user, id, body)) };
  }),
  serve(policyApi.delete, async ({ engine, principal, params }) => {
    const user = requireUser(principal);
    return { rule: await command(engine, (work) => removeRule(work, user, params.id)) };
  }),
  serve(policyApi.preview, async ({ engine, principal, body }) => {
    requireMay(principal, "policy.read");
    return previewCall(engine, requireUser(principal), body);
  }),
];

async function previewCall(
  engine: Engine,
  user: UserPrincipal,
  { tool, target, sessionId }: PreviewRequest,
): Promise<Preview> {
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

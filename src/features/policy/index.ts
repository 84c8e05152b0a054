/** Policy: rules by tool and target that allow, ask or deny; built-in, a person's, an org's. */
import type { Feature } from "#engine/index.ts";
import { judgeCall } from "./evaluation/judge.ts";
import { deletePersonalRules } from "./queries.ts";
import { policyRoutes } from "./routes.ts";
import { policyMigrations } from "./schema.ts";

export const policy: Feature = {
  name: "policy",
  migrations: policyMigrations,
  routes: policyRoutes,
  judge: judgeCall,
  sessionTables: ["policy_rules"],
  async purgePerson(work, { orgId, userId }) {
    await deletePersonalRules(work.tx, { orgId, userId });
    return true;
  },
};

export { judgeWaiting } from "./evaluation/judge.ts";
export {
  addStandingRule,
  requireUser,
  setPersonaRules,
  type UserPrincipal,
} from "./evaluation/rules.ts";
export { dropAllowRules } from "./queries.ts";
export {
  callKey,
  childKeyOf,
  isForSandboxOnly,
  standingTarget,
} from "./standing-calls.ts";

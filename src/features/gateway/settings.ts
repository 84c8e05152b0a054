/** Reads and changes the model gateway's settings. */
import { Refusal } from "#base/refusal.ts";
import type { Reader } from "#base/store/index.ts";
import {
  command,
  type Principal,
  principalKey,
  type Route,
  requireMay,
  requireOrg,
  serve,
  type Work,
} from "#engine/index.ts";
import { lockOrg } from "#features/auth/index.ts";
import { type GatewayChange, type GatewaySettings, gatewayApi } from "./contract.ts";
import { findSettings, saveSettings } from "./queries.ts";
import type { GatewaySettingsRow } from "./schema.ts";

/**
 * Defaults. Members' machines are allowed: their turns are metered and budgeted as on any runner. The
 * server's own keys were given to this machine, so other machines use them only if an admin allows it.
 */
const DEFAULTS = { personal_runners: 1, environment_keys: 0 } as const;

export async function readSettings(reader: Reader, orgId: string): Promise<GatewaySettingsRow> {
  return (await findSettings(reader, orgId)) ?? { org_id: orgId, ...DEFAULTS, updated_at: 0 };
}

export function requireOpen({ personal_runners }: GatewaySettingsRow, isPersonal: boolean): void {
  if (!isPersonal || personal_runners === 1) return;
  throw new Refusal(
    "forbidden",
    "gateway_closed",
    "The organisation's models are closed to members' own machines. Use a runner of the organisation, give this machine its own key, or ask an admin to open the model gateway.",
  );
}

export const settingsRoutes: readonly Route[] = [
  serve(gatewayApi.get, async ({ engine, principal, params }) => {
    requireMay(principal, "provider.read");
    const orgId = requireOrg(principal, params.orgId);
    return {
      gateway: viewOf(await engine.store.read((reader) => readSettings(reader, orgId))),
    };
  }),
  serve(gatewayApi.update, async ({ engine, principal, params, body }) => {
    requireMay(principal, "provider.manage");
    requireOrg(principal, params.orgId);
    return { gateway: viewOf(await command(engine, (work) => change(work, principal, body))) };
  }),
];

async function change(
  work: Work,
  principal: Principal,
  requested: GatewayChange,
): Promise<GatewaySettingsRow> {
  const { orgId } = principal;
  // Changes are serialised: each keeps what another has set.
  await lockOrg(work.tx, orgId);
  const before = await readSettings(work.tx, orgId);
  const after = {
    ...before,
    personal_runners: Number(requested.personalRunners ?? before.personal_runners === 1),
    environment_keys: Number(requested.environmentKeys ?? before.environment_keys === 1),
    updated_at: work.now,
  };
  await saveSettings(work.tx, after);
  for (const [name, was, is] of [
    ["personal_runners", before.personal_runners, after.personal_runners],
    ["environment_keys", before.environment_keys, after.environment_keys],
  ] as const) {
    if (was === is) continue;
    const by = principalKey(principal);
    const action = is === 1 ? "opened" : "closed";
    await work.reportChange({
      orgId,
      by,
      area: "model_gateway",
      action,
      subjectId: null,
      detail: name,
    });
  }
  // Runners reload the list of providers.
  work.tx.afterCommit(() => work.announcer.hint("providers", "gateway", orgId));
  return after;
}

function viewOf(row: GatewaySettingsRow): GatewaySettings {
  return {
    personalRunners: row.personal_runners === 1,
    environmentKeys: row.environment_keys === 1,
    updatedAt: row.updated_at === 0 ? null : new Date(row.updated_at).toISOString(),
  };
}

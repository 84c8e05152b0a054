/** Runners, their models, and their tokens. */

import { type Kernel, requireMay } from "#engine/index.ts";
import { runnersApi } from "#engine/runs/contract.ts";
import { type RunnerToken, runnerTokensApi } from "#features/auth/contract.ts";
import { type App, principalOf, userOf } from "../app.ts";
import { endpoint } from "../endpoint.ts";
import type { Caller } from "../guards/callers.ts";
import { requireId } from "../input.ts";

/** Operations that the runner routes need; main passes in the feature that provides them. */
export interface RunnerTokens {
  createRunnerToken(
    by: Person,
    maker: Caller,
    token: { name: string; tags: readonly string[]; scope: "org" | "user" },
  ): Promise<{ id: string; token: string; scope: string }>;
  listRunnerTokens(by: Person): Promise<RunnerToken[]>;
  revokeRunnerToken(by: Person, id: string): Promise<RunnerToken>;
  revoke(credentialId: string): Promise<void>;
}

type Person = ReturnType<typeof userOf>;

export function runnerRoutes(app: App, kernel: Kernel, tokens: RunnerTokens): void {
  machineRoutes(app, kernel, tokens);
  sandboxRoutes(app, kernel);
  diskRoute(app, kernel);
  tokenRoutes(app, kernel, tokens);
}

/** Disk use of runners, by runner. */
function diskRoute(app: App, { engine }: Kernel): void {
  endpoint(app, runnersApi.disk, async ({ c }) => {
    requireMay(principalOf(c), "operate");
    return { database: (await engine.store.use?.()) ?? null };
  });
}

function machineRoutes(app: App, { runners }: Kernel, tokens: RunnerTokens): void {
  endpoint(app, runnersApi.list, ({ c }) => runners.list(principalOf(c)));
  endpoint(app, runnersApi.runtimes, async ({ c }) => ({
    items: await runners.runtimes(principalOf(c)),
    next: null,
  }));
  endpoint(app, runnersApi.delete, async ({ c }) => {
    const id = requireId(c.req.param("id"), "runner");
    // The token is revoked first: a dropped runner reconnects at once.
    await tokens.revoke(await runners.credentialOf(principalOf(c), id));
    await runners.remove(principalOf(c), id);
    return {};
  });
}

/** Consent to work without a sandbox, per machine, and a new check for a sandbox. */
function sandboxRoutes(app: App, { runners }: Kernel): void {
  const change = (allowed: boolean) => async (c: Parameters<typeof principalOf>[0]) => {
    const id = requireId(c.req.param("id"), "runner");
    return { runner: await runners.changeConsent(principalOf(c), { id, allowed }) };
  };
  endpoint(app, runnersApi.allowUnsandboxed, ({ c }) => change(true)(c));
  endpoint(app, runnersApi.requireSandbox, ({ c }) => change(false)(c));
  endpoint(app, runnersApi.lookForSandbox, async ({ c }) => {
    const id = requireId(c.req.param("id"), "runner");
    return { runner: await runners.lookForSandbox(principalOf(c), id) };
  });
}

function tokenRoutes(app: App, { dispatcher }: Kernel, tokens: RunnerTokens): void {
  endpoint(app, runnerTokensApi.create, async ({ c, body: { name, tags, scope } }) => {
    const user = userOf(c);
    requireMay(user, "runner.own");
    const whose = scope ?? (user.role === "admin" ? "org" : "user");
    const request = { name, tags, scope: whose } as const;
    return { ...(await tokens.createRunnerToken(user, c.get("caller"), request)), name };
  });
  endpoint(app, runnerTokensApi.list, async ({ c }) => ({
    items: await tokens.listRunnerTokens(userOf(c)),
    next: null,
  }));
  endpoint(app, runnerTokensApi.revoke, async ({ c }) => {
    const id = requireId(c.req.param("id"), "runner token");
    const token = await tokens.revokeRunnerToken(userOf(c), id);
    await dispatcher.drop(id, "the token was revoked");
    return { token };
  });
}

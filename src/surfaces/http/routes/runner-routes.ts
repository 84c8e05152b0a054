/** The machines that work, what they offer, and the tokens that let them in. */
import * as z from "zod";
import { line } from "#base/text-schemas.ts";
import { type Kernel, requireMay } from "#engine/index.ts";
import { type RunnerToken, runnerTokenSchema } from "#features/auth/contract.ts";
import { databaseUseSchema } from "#protocol/database-use.ts";
import { pageOf } from "#protocol/page.ts";
import { runnerSchema } from "#protocol/runs.ts";
import { type App, principalOf, userOf } from "../app.ts";
import type { Caller } from "../callers.ts";
import { endpoint } from "../endpoint.ts";
import { requireId } from "../input.ts";

const TAG = "Runners";

/** What the runner routes need of sign-in; the feature that has it is handed in. */
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

/** The disks of runners are told with the runners. */
function diskRoute(app: App, { engine }: Kernel): void {
  endpoint(
    app,
    {
      method: "get",
      path: "/api/disk",
      summary: "The room that the database takes up; for admins",
      tag: TAG,
      response: z.object({ database: databaseUseSchema.nullable() }),
    },
    async ({ c }) => {
      requireMay(principalOf(c), "operate");
      return { database: (await engine.store.use?.()) ?? null };
    },
  );
}

function machineRoutes(app: App, { runners }: Kernel, tokens: RunnerTokens): void {
  endpoint(
    app,
    {
      method: "get",
      path: "/api/runners",
      summary: "The machines that work for you",
      tag: TAG,
      response: pageOf(runnerSchema),
    },
    ({ c }) => runners.list(principalOf(c)),
  );
  endpoint(
    app,
    {
      method: "get",
      path: "/api/runtimes",
      summary: "The agent programs that sessions can use",
      tag: TAG,
      response: pageOf(
        z.object({ name: z.string(), available: z.boolean(), reason: z.string().nullable() }),
      ),
    },
    async ({ c }) => ({ items: await runners.runtimes(principalOf(c)), next: null }),
  );
  endpoint(
    app,
    {
      method: "delete",
      path: "/api/runners/{id}",
      summary: "Forget a runner and revoke its token",
      tag: TAG,
      response: z.object({}),
    },
    async ({ c }) => {
      const id = requireId(c.req.param("id"), "runner");
      // First the token: one that is dropped tries to come back at once.
      await tokens.revoke(await runners.credentialOf(principalOf(c), id));
      await runners.remove(principalOf(c), id);
      return {};
    },
  );
}

/** Work without a sandbox: a consent per machine, and looking again for a sandbox. */
function sandboxRoutes(app: App, { runners }: Kernel): void {
  const response = z.object({ runner: runnerSchema });
  const change = (allowed: boolean) => async (c: Parameters<typeof principalOf>[0]) => {
    const id = requireId(c.req.param("id"), "runner");
    return { runner: await runners.changeConsent(principalOf(c), { id, allowed }) };
  };
  endpoint(
    app,
    {
      method: "post",
      path: "/api/runners/{id}/unsandboxed",
      summary:
        "Let agents work on this machine without a sandbox, while it has none: an admin, or the owner of the machine, signed in",
      tag: TAG,
      body: z.strictObject({}),
      response,
    },
    ({ c }) => change(true)(c),
  );
  endpoint(
    app,
    {
      method: "delete",
      path: "/api/runners/{id}/unsandboxed",
      summary: "Take that consent back; commands that run without a sandbox end at once",
      tag: TAG,
      response,
    },
    ({ c }) => change(false)(c),
  );
  endpoint(
    app,
    {
      method: "post",
      path: "/api/runners/{id}/look",
      summary: "Let the machine look again whether it has a sandbox; its answer shows in the list",
      tag: TAG,
      body: z.strictObject({}),
      response,
    },
    async ({ c }) => {
      const id = requireId(c.req.param("id"), "runner");
      return { runner: await runners.lookForSandbox(principalOf(c), id) };
    },
  );
}

function tokenRoutes(app: App, { dispatcher }: Kernel, tokens: RunnerTokens): void {
  endpoint(
    app,
    {
      method: "post",
      path: "/api/runners/tokens",
      summary: "A token for a new runner; it is shown once",
      tag: TAG,
      body: z.strictObject({
        name: line(200).min(1),
        tags: z.array(line(100).min(1)).max(50).default([]),
        /** Whose runs it takes: everybody's (admins), or its owner's alone. */
        scope: z.enum(["org", "user"]).optional(),
      }),
      status: 201,
      response: z.object({
        id: z.string(),
        name: z.string(),
        scope: z.string(),
        token: z.string(),
      }),
    },
    async ({ c, body: { name, tags, scope } }) => {
      const user = userOf(c);
      requireMay(user, "runner.own");
      const whose = scope ?? (user.role === "admin" ? "org" : "user");
      const asked = { name, tags, scope: whose } as const;
      return { ...(await tokens.createRunnerToken(user, c.get("caller"), asked)), name };
    },
  );
  endpoint(
    app,
    {
      method: "get",
      path: "/api/runners/tokens",
      summary: "Tokens that let runners in: your own; for admins all",
      tag: TAG,
      response: pageOf(runnerTokenSchema),
    },
    async ({ c }) => ({ items: await tokens.listRunnerTokens(userOf(c)), next: null }),
  );
  endpoint(
    app,
    {
      method: "delete",
      path: "/api/runner-tokens/{id}",
      aliases: ["/api/runners/tokens/{id}"],
      summary: "Revoke a token; runners that came with it are let go at once",
      tag: TAG,
      response: z.object({ token: runnerTokenSchema }),
    },
    async ({ c }) => {
      const id = requireId(c.req.param("id"), "runner token");
      const token = await tokens.revokeRunnerToken(userOf(c), id);
      await dispatcher.drop(id, "the token was revoked");
      return { token };
    },
  );
}

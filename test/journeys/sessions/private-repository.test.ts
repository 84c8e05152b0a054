/**
 * A private repository end to end: a session clones it, commits as its owner, and opens a pull
 * request.
 */
import { execFileSync } from "node:child_process";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ApiRoutes, BodyOf } from "#client/index.ts";
import { openRepository } from "#engine/runs/runners/repository-access.ts";
import { orgOf } from "#test/clients/people.ts";
import { type GitServer, startGitServer } from "#test/git-server/git-server.ts";
import { type ModelServer, startModelServer } from "#test/model-server/model-server.ts";
import { type Platform, startPlatform } from "#test/platform.ts";
import "#test/services/bubblewrap.ts";

const TOKEN = "ghx_Aa0/9+zZ-repository-0123456789";
const TITLE = "Say what it does";
const COMMIT = 'CALL bash {"command": "echo better > README.md && git commit -qam better && env"}';
const PULL = `CALL create_pull_request ${JSON.stringify({ title: TITLE, body: "Because." })}`;

describe("a private repository", () => {
  let platform: Platform;
  let model: ModelServer;
  let host: GitServer;
  let orgId: string;
  const logLines: string[] = [];

  beforeAll(async () => {
    host = await startGitServer(TOKEN);
    model = await startModelServer();
    platform = await startPlatform({
      logLines,
      env: {
        MUSTER_LOG_LEVEL: "debug",
        MUSTER_MODEL: "anthropic/test-1",
        ANTHROPIC_API_KEY: "key",
        ANTHROPIC_BASE_URL: model.url,
        MUSTER_GITHUB_API_URL: host.apiUrl,
      },
    });
    ({ orgId } = await orgOf(platform));
    const newPassword = "a long sentence to sign in with";
    const email = "ada@example.com";
    await platform.api.me.setPassword({ body: { email, newPassword } });
    await store("REPO_TOKEN", TOKEN);
    host.create("acme/app");
    await add({ fullName: "acme/app", url: `${host.url}/acme/app.git`, credential: "REPO_TOKEN" });
  });
  afterAll(async () => {
    await platform.stop();
    await model.close();
    await host.close();
  });

  const store = (name: string, value: string) =>
    platform.api.orgSecrets.set({ orgId, name, body: { value } });
  const add = (repo: BodyOf<ApiRoutes["repos"]["create"]>) =>
    platform.api.repos.create({ orgId, body: { provider: "github", ...repo } });
  const results = async (sessionId: string) =>
    (await platform.events(sessionId)).filter(({ type }) => type === "post_tool");
  const allow = async (promptId: string, session: string) => {
    await platform.promptIn(promptId, "gated");
    const { approvals } = platform.api;
    const [asked] = (await approvals.list({ query: { state: "pending", session } })).items;
    await approvals.decide({ id: asked?.id ?? "", body: { decision: "allow" } });
    return asked;
  };
  const settled = async (id: string) => {
    const prompt = await platform.promptIn(id, "settled");
    expect(prompt).toMatchObject({ error: null, outcome: "completed" });
  };

  it("is worked on, and the result becomes a pull request when a person approves", async () => {
    const session = await platform.createSession({ runtime: "native", repo: "acme/app" });
    const prompt = await platform.prompt(session.id, `${COMMIT}\n${PULL}\nSAY done`);
    expect(await allow(prompt.id, session.id)).toMatchObject({ tool: "create_pull_request" });
    await settled(prompt.id);
    const branch = `muster/${session.id}`;
    const url = `${host.url}/acme/app/pull/1`;
    expect(host.pulls).toMatchObject([
      { title: TITLE, body: "Because.", head: branch, base: "main", draft: false, html_url: url },
    ]);
    const [committed, opened] = await results(session.id);
    expect(committed).toMatchObject({ error: null });
    expect(opened).toMatchObject({ error: null, toolOutput: expect.stringContaining(url) });
    const { name } = (await platform.api.me.get()).user;
    expect(host.git("acme/app", "log", "-1", "--format=%an <%ae> %s", branch)).toBe(
      `${name} <ada@example.com> better\n`,
    );

    const again = await platform.prompt(
      session.id,
      `CALL bash {"command": "echo more >> README.md && git commit -qam more"}\n${PULL}\nCALL report_git_state {}\nSAY done`,
    );
    await allow(again.id, session.id);
    await settled(again.id);
    expect(host.pulls).toHaveLength(1);
    const [, , , second, state] = await results(session.id);
    expect(second?.toolOutput).toContain(url);
    expect(second?.toolOutput).toContain("already open for this branch");
    expect(state?.toolOutput).toContain(`branch: ${branch}`);
    expect(state?.toolOutput).toContain("base: main, 2 ahead, 0 behind");
    expect(state?.toolOutput).toContain("unpushed: nothing");
  });

  it("is not pushed to without permission, nor to its default branch", async () => {
    const session = await platform.createSession({ runtime: "native", repo: "acme/app" });
    const prompt = await platform.prompt(
      session.id,
      `CALL bash {"command": "git checkout -q -B main && echo x > x && git add x && git commit -qm x"}\nCALL push_branch {"branch": "main"}\nSAY done`,
    );
    expect(await allow(prompt.id, session.id)).toMatchObject({
      tool: "push_branch",
      target: "main",
    });
    await settled(prompt.id);
    const [, pushed] = await results(session.id);
    expect(pushed?.error).toContain("default branch");
    expect(host.git("acme/app", "log", "-1", "--format=%s", "main")).toBe("first\n");
  });

  it("opens with the organisation's secret only, and says what is missing", async () => {
    host.create("acme/other");
    await platform.api.secrets.set({ name: "MINE_ONLY", body: { value: TOKEN } });
    await add({
      fullName: "acme/other",
      url: `${host.url}/acme/other.git`,
      credential: "MINE_ONLY",
    });
    const before = host.requests.length;
    const session = await platform.createSession({ runtime: "native", repo: "acme/other" });
    const prompt = await platform.prompt(session.id, "SAY hello");
    const failed = await platform.promptIn(prompt.id, "settled");
    expect(failed).toMatchObject({
      outcome: "failed",
      error: {
        code: "repo_credential_unusable",
        message: expect.stringContaining("MINE_ONLY"),
      },
    });
    expect(host.requests).toHaveLength(before);
    await store("MINE_ONLY", "wrong-token-0123456789");
    const again = await platform.prompt(session.id, "SAY hello");
    const { error } = await platform.promptIn(again.id, "settled");
    expect(error?.message).toMatch(/fetching it from .* failed: .*Authentication failed/);
    expect(error?.message).not.toContain("wrong-token");
  });

  it("is opened for the runner that holds the run, by its current fence", async () => {
    const session = await platform.createSession({ runtime: "native", repo: "acme/app" });
    const prompt = await platform.prompt(session.id, "SLOW 40 50");
    await platform.promptIn(prompt.id, "running");
    const claimed = (await platform.events(session.id)).findLast(
      ({ type }) => type === "run_claimed",
    );
    const { runnerId, fence } = (claimed?.data ?? {}) as { runnerId: string; fence: number };
    const run = claimed?.runId ?? "";
    const { engine } = platform.server.kernel;
    const opener = async () => ({ fullName: "acme/app" }) as never;
    const open = (id: string, at: number, which = run) =>
      openRepository(engine, [opener], { id, scope: "org" }, { run: which, fence: at });
    expect(await open(runnerId, fence)).toEqual({ access: { fullName: "acme/app" } });
    for (const asked of [
      open("rnr_other", fence),
      open(runnerId, fence - 1),
      open(runnerId, fence + 1),
      open(runnerId, fence, "run_other"),
    ])
      expect(await asked).toEqual({ lost: true });
    await settled(prompt.id);
    expect(await open(runnerId, fence)).toEqual({ lost: true });
  });

  it("leaves its credential in no file, event, log line or model request", async () => {
    const forms = [
      TOKEN,
      encodeURIComponent(TOKEN),
      Buffer.from(`x-access-token:${TOKEN}`).toString("base64"),
    ];
    const { items } = await platform.api.sessions.list();
    const events = await Promise.all(items.map(({ id }) => platform.events(id)));
    const audit = await platform.api.audit.list({ query: { limit: 100 } });
    const texts = [
      JSON.stringify(events),
      JSON.stringify(audit),
      logLines.join("\n"),
      JSON.stringify(model.requests.map(({ body: sent }) => sent)),
    ];
    expect(texts[0]).toContain("create_pull_request");
    for (const form of forms) for (const text of texts) expect(text.includes(form)).toBe(false);
    const words = forms.flatMap((form) => ["-e", form]);
    const grep = () => execFileSync("grep", ["-rlaF", ...words, platform.config.home]);
    expect(grep).toThrow();
  });
});

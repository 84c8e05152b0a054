/** A member reaches no folder of a runner's machine, however the path is written. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join as joinPath } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Session } from "#protocol/sessions.ts";
import { apiKey } from "#test/clients/mcp.ts";
import { type Browser, join, orgOf } from "#test/clients/people.ts";
import { type ModelServer, startModelServer } from "#test/model-server/model-server.ts";
import { type Platform, startPlatform } from "#test/platform.ts";
import "#test/services/bubblewrap.ts";
import { createTestDatabase, postgresUrl, type TestDatabase } from "#test/services/postgres.ts";

const SECRET = "salaries-7731";

function makeRepository(): string {
  const folder = mkdtempSync(joinPath(tmpdir(), "muster-payroll-"));
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@example.com", ...args], {
      cwd: folder,
    });
  git("init", "-q", "-b", "main");
  writeFileSync(joinPath(folder, "payroll.txt"), SECRET);
  git("add", "-A");
  git("commit", "-qm", "first");
  return folder;
}

function spellings(folder: string): string[] {
  return [
    ...[
      folder,
      ` ${folder}`,
      `\t${folder}`,
      `\u00a0${folder}`,
      `\u3000${folder}`,
      `\ufeff${folder}`,
    ],
    ...[`\u2003${folder}`, `${folder}/`, `${folder}/.git`, `/${folder}`, `/.${folder}`],
    ...[`file://${folder}`, ` file://${folder}`, `FILE://${folder}`, `file:${folder}`],
    ...[`file://localhost${folder}`, `file:/${folder}`, `file://${folder.replaceAll("/", "%2F")}`],
    ...[`file:\\\\${folder}`, folder.replaceAll("/", "\\"), `\\\\?${folder}`, `C:${folder}`],
    ...[`x:${folder}`, `./..${folder}`, `..${folder}`, `~/..${folder}`, `~root/..${folder}`],
    ...[`ext::sh -c cat% ${folder}/payroll.txt`, `fd::7${folder}`, `file::${folder}`],
    ...[`--upload-pack=${folder}`, `-${folder}`, `git+file://${folder}`, `local:${folder}`],
    ...[`https:${folder}`, `\u200b${folder}`, `"${folder}"`, `'${folder}'`],
  ];
}

function story(name: string, database: () => Promise<TestDatabase | undefined>): void {
  describe(name, { timeout: 60_000 }, () => {
    let platform: Platform;
    let model: ModelServer;
    let member: Browser;
    const folder = makeRepository();

    beforeAll(async () => {
      model = await startModelServer();
      platform = await startPlatform({
        database,
        env: {
          MUSTER_MODEL: "anthropic/test-1",
          ANTHROPIC_API_KEY: "key",
          ANTHROPIC_BASE_URL: model.url,
        },
      });
      member = await join(platform, "Mel");
    });
    afterAll(async () => {
      await platform.stop();
      await model.close();
      rmSync(folder, { recursive: true, force: true });
    });

    const create = (who: Pick<Browser, "request">, fields: object) =>
      who.request<{ session: Session; error?: { code: string } }>("POST", "/api/sessions", {
        runtime: "native",
        ...fields,
      });
    const settled = async ({ api }: Pick<Browser, "api">, sessionId: string) => {
      const content = 'CALL bash {"command": "cat payroll.txt"}\nSAY ok';
      const { id } = (await api.prompts.create({ id: sessionId, body: { content } })).prompt;
      for (;;) {
        const { prompt } = await api.prompts.get({ id });
        if (prompt.state === "settled") return prompt;
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    };
    const sawSecret = async (sessionId: string) =>
      JSON.stringify(await platform.events(sessionId)).includes(SECRET);
    const setRow = (id: string, column: "repo" | "project_dir", value: string) =>
      platform.server.kernel.engine.store.transaction((tx) =>
        tx.execute({
          sql: `update sessions set ${column} = ${tx.dialect === "postgres" ? "$1" : "?"} where id = ${tx.dialect === "postgres" ? "$2" : "?"}`,
          parameters: [value, id],
        }),
      );

    it("refuses every spelling of a path", async () => {
      for (const repo of spellings(folder)) {
        const { status, body } = await create(member, { repo });
        expect({ repo, status, code: body.error?.code }).toMatchObject({
          repo,
          status: expect.toSatisfy((code: number) => code === 400 || code === 403),
          code: expect.stringMatching(/^(?:folder_not_allowed|url_invalid|invalid_request)$/),
        });
      }
    });

    it("says that only an admin may name a folder", async () => {
      for (const repo of [` ${folder}`, `\u00a0${folder}`, `file://${folder}`, "~/x", "../x"])
        expect(await create(member, { repo })).toMatchObject({
          status: 403,
          body: { error: { code: "folder_not_allowed" } },
        });
      for (const projectDir of [folder, ` ${folder}`]) {
        expect(await create(member, { projectDir })).toMatchObject({ status: 403 });
        const run = { type: "start_session", prompt: "go", runtime: "native", projectDir };
        expect(await member.request("POST", "/api/runs", run)).toMatchObject({ status: 403 });
      }
    });

    it.each(["repo", "project_dir"] as const)(
      "does not honour a path that an earlier version stored for a member (%s)",
      async (column) => {
        for (const value of [folder, ` ${folder}`, `file://${folder}`]) {
          const { session } = (await create(member, {})).body;
          await setRow(session.id, column, value);
          const prompt = await settled(member, session.id);
          if (column === "repo")
            expect(prompt).toMatchObject({
              outcome: "failed",
              error: { code: "folder_not_allowed" },
            });
          expect(await sawSecret(session.id)).toBe(false);
        }
      },
    );

    it("requires more than an admin's key for sessions", async () => {
      const key = await apiKey(platform, ["sessions:read", "sessions:write"]);
      const bearer = { authorization: `Bearer ${key}` };
      for (const fields of [{ repo: folder }, { projectDir: folder }])
        expect(await platform.request("POST", "/api/sessions", fields, bearer)).toMatchObject({
          status: 403,
          body: { error: { code: "folder_not_allowed" } },
        });
    });

    it("lets an admin share a folder under a name, and members use that name", async () => {
      for (const fields of [{ repo: ` ${folder}` }, { repo: `file://${folder}` }]) {
        const { status, body } = await create(platform, fields);
        expect(status).toBe(201);
        expect(body.session.repo).toBe(folder);
        expect(await settled(platform, body.session.id)).toMatchObject({ outcome: "completed" });
        expect(await sawSecret(body.session.id)).toBe(true);
      }
      const { orgId } = await orgOf(platform);
      const listed = { fullName: "acme/payroll", url: folder };
      await platform.api.repos.create({ orgId, body: listed });
      const named = await create(member, { repo: "acme/payroll" });
      expect(named.status).toBe(201);
      expect(await settled(member, named.body.session.id)).toMatchObject({ outcome: "completed" });
      expect(await sawSecret(named.body.session.id)).toBe(true);
    });
  });
}

story("folders of the host on sqlite", async () => undefined);
describe.skipIf(!postgresUrl)("with a PostgreSQL server", () => {
  story("folders of the host on postgres", createTestDatabase);
});

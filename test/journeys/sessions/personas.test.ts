/** A session with a persona on a repository: the agent's context, and when it changes. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { orgOf } from "#test/clients/people.ts";
import { type ModelServer, startModelServer } from "#test/model-server/model-server.ts";
import { type Platform, startPlatform } from "#test/platform.ts";
import "#test/services/bubblewrap.ts";
import { createTestDatabase, postgresUrl, type TestDatabase } from "#test/services/postgres.ts";

function makeRepository(): string {
  const folder = mkdtempSync(join(tmpdir(), "muster-repo-"));
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@example.com", ...args], {
      cwd: folder,
    });
  git("init", "-q", "-b", "main");
  writeFileSync(join(folder, "AGENTS.md"), "REPOSITORY-RULE\n");
  git("add", "-A");
  git("commit", "-qm", "first");
  return folder;
}

function story(name: string, database: () => Promise<TestDatabase | undefined>): void {
  describe(name, () => {
    let platform: Platform;
    let model: ModelServer;
    let made: TestDatabase | undefined;
    let orgId: string;
    const repository = makeRepository();

    beforeAll(async () => {
      made = await database();
      model = await startModelServer();
      platform = await startPlatform({
        env: {
          MUSTER_MODEL: "anthropic/test-1",
          ANTHROPIC_API_KEY: "key",
          ANTHROPIC_BASE_URL: model.url,
          ...(made ? { MUSTER_DATABASE_URL: made.url } : {}),
        },
      });
      ({ orgId } = await orgOf(platform));
    });
    afterAll(async () => {
      await platform.stop();
      await model.close();
      await made?.drop();
      rmSync(repository, { recursive: true, force: true });
    });

    const lastSystem = () => JSON.stringify(model.requests.at(-1)?.body.system);
    const settle = async (sessionId: string, content: string) => {
      const prompt = await platform.prompt(sessionId, content);
      expect(await platform.promptIn(prompt.id, "settled")).toMatchObject({
        error: null,
        outcome: "completed",
      });
    };

    it("gives its files in order, keeps its version, and takes the new one on request", async () => {
      const created = await platform.api.personas.create({
        orgId,
        body: {
          name: "Careful",
          slug: "careful",
          visibility: "shared",
          files: [
            { filename: "STYLE.md", content: "STYLE-ONE", sortOrder: 1 },
            { filename: "SAFETY.md", content: "SAFETY-ONE", sortOrder: 9 },
            { filename: "REVIEW.md", content: "REVIEW-ONE", sortOrder: 0 },
          ],
        },
      });
      const personaId = created.persona.id;
      const session = await platform.createSession({
        runtime: "native",
        repo: `file://${repository}`,
        personaSlug: "careful",
        instructions: "SESSION-RULE",
      });
      expect(session).toMatchObject({ persona: "careful" });
      await settle(
        session.id,
        'CALL bash {"command": "cat .muster/persona/*; ls .muster/persona; git status --short"}\nSAY ok',
      );
      const order = ["SAFETY-ONE", "STYLE-ONE", "REPOSITORY-RULE", "SESSION-RULE"];
      const places = order.map((word) => lastSystem().indexOf(word));
      expect(places).toEqual(places.toSorted((a, b) => a - b));
      expect(places.every((place) => place > 0)).toBe(true);
      expect(lastSystem()).not.toContain("REVIEW-ONE");
      const results = (await platform.events(session.id)).filter(
        ({ type }) => type === "post_tool",
      );
      expect(results[0]?.toolOutput).toBe("SAFETY-ONESTYLE-ONE00-SAFETY.md\n01-STYLE.md\n");

      await platform.api.personas.update({
        orgId,
        id: personaId,
        body: { files: [{ filename: "STYLE.md", content: "STYLE-TWO", sortOrder: 1 }] },
      });
      await settle(session.id, "SAY still the old one");
      expect(lastSystem()).toContain("STYLE-ONE");

      const refreshed = await platform.api.briefing.refreshPersona({ id: session.id });
      expect(refreshed).toMatchObject({ persona: "careful", version: 2 });
      await settle(session.id, "SAY the new one");
      expect(lastSystem()).toContain("STYLE-TWO");
      expect(lastSystem()).not.toContain("STYLE-ONE");
    });

    it("refuses an unknown persona", async () => {
      const answer = await platform.request("POST", "/api/sessions", { personaSlug: "nobody" });
      expect(answer).toMatchObject({ status: 404, body: { error: { code: "not_found" } } });
    });

    it("resolves repositories by name, with their persona", async () => {
      await platform.api.repos.create({
        orgId,
        body: {
          fullName: "acme/api",
          provider: "git",
          url: repository,
          personaSlug: "careful",
          setupCommand: "echo ready > ready.txt; echo once >> times.txt",
        },
      });
      const session = await platform.createSession({ runtime: "native", repo: "acme/api" });
      expect(session).toMatchObject({
        persona: "careful",
        repo: expect.stringContaining("muster-repo"),
      });
      await settle(session.id, 'CALL bash {"command": "git branch --show-current"}\nSAY ok');
      await settle(session.id, 'CALL bash {"command": "cat ready.txt times.txt"}\nSAY ok');
      const results = (await platform.events(session.id)).filter(
        ({ type }) => type === "post_tool",
      );
      expect(results.map(({ toolOutput }) => toolOutput)).toEqual([
        `muster/${session.id}\n`,
        "ready\nonce\n",
      ]);
    });
  });
}

story("personas on sqlite", async () => undefined);
describe.skipIf(!postgresUrl)("with a PostgreSQL server", () => {
  story("personas on postgres", createTestDatabase);
});

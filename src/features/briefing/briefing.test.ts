import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { command, type RequestedFields } from "#engine/index.ts";
import { findSession } from "#engine/sessions/index.ts";
import { memory as memories } from "#features/memory/index.ts";
import { createPersonas, findSharedPersona } from "#features/personas/index.ts";
import { policy } from "#features/policy/index.ts";
import { createRepos } from "#features/repos/index.ts";
import { createSecrets } from "#features/secrets/index.ts";
import { owner, startWorld, type World } from "#features/testing/index.ts";
import { createTestDatabase, postgresUrl, type TestDatabase } from "#test/services/postgres.ts";
import { briefing } from "./index.ts";

const ORG = "/api/orgs/org_1";
const KEY = "a-secret-key-of-more-than-32-characters";

function suite(title: string, database: () => Promise<TestDatabase | undefined>): void {
  describe(title, () => {
    let world: World;
    let made: TestDatabase | undefined;
    beforeAll(async () => {
      made = await database();
      const secrets = createSecrets({ secretKey: KEY });
      const repos = createRepos({ secretKey: KEY, secrets, findPersona: findSharedPersona });
      const personas = createPersonas({ searchPath: "" });
      const list = [policy, memories, secrets.feature, personas, repos.feature, briefing];
      world = await startWorld(list, made?.url);
      for (const [slug, fields] of Object.entries({
        plain: {},
        picky: { runtime: "scripted", model: "lab/large" },
        repos: { runtime: "echo" },
      }))
        await world.call(owner, "POST", `${ORG}/personas`, {
          name: slug,
          slug,
          visibility: "shared",
          ...fields,
        });
      await world.call(owner, "POST", `${ORG}/repos`, {
        url: "https://example.org/acme/api.git",
        personaSlug: "repos",
      });
    });
    afterAll(async () => {
      await world.stop();
      await made?.drop();
    });

    const create = (fields: Record<string, unknown>) => world.kernel.sessions.create(owner, fields);
    /** Spawns a child as an agent does: its persona is the agent's choice, not a person's. */
    const spawn = async (child: { repo?: string; persona?: string }) => {
      const { id } = await create({});
      return command(world.kernel.engine, async (work) => {
        const session = await work.session(id);
        if (!session) throw new Error("It was just made.");
        session.row.repo = child.repo ?? null;
        const asked: RequestedFields = {
          runtime: false,
          model: false,
          persona: false,
          callback: false,
          personaSlug: child.persona,
        };
        await work.emit({ type: "session_making", session, requested: asked });
        return asked.chosenPersona?.slug ?? null;
      });
    };
    it("keeps an explicit choice of memory, whatever the persona says", async () => {
      for (const [slug, enableMemory] of [
        ["forgets", false],
        ["remembers", true],
      ] as const)
        await world.call(owner, "POST", `${ORG}/personas`, {
          name: slug,
          slug,
          visibility: "shared",
          enableMemory,
        });
      const memory = async (fields: object) => (await create({ ...fields })).enableMemory;
      expect(await memory({ personaSlug: "forgets", enableMemory: true })).toBe(true);
      expect(await memory({ personaSlug: "remembers", enableMemory: false })).toBe(false);
      expect(await memory({ personaSlug: "remembers" })).toBe(true);
      expect(await memory({ personaSlug: "forgets" })).toBe(false);
    });

    it("takes kind and purpose for the same, and refuses two that differ", async () => {
      for (const fields of [{ kind: "review" }, { purpose: "review" }])
        expect(await create(fields)).toMatchObject({ kind: "review", purpose: "review" });
      expect(await create({ kind: "task" })).toMatchObject({ kind: "task", purpose: "task" });
      await expect(create({ kind: "task", purpose: "review" })).rejects.toMatchObject({
        code: "purpose_conflict",
      });
    });

    it("tells the agent name, description and path of each skill", async () => {
      const skill = (name: string, description: string) => ({
        name,
        files: [
          {
            path: "SKILL.md",
            content: `---\nname: ${name}\ndescription: ${description}\n---\nSteps.`,
          },
          { path: "scripts/run.sh", content: "true" },
        ],
      });
      await world.call(owner, "POST", `${ORG}/personas`, {
        name: "skilled",
        slug: "skilled",
        visibility: "shared",
        files: [{ filename: "SYSTEM.md", content: "Be kind.", sortOrder: 0 }],
        skills: [
          skill("release", "|\n  Cuts a release.\n  Use it before a tag."),
          skill("lint", "Lints."),
        ],
      });
      const briefOf = async (personaSlug: string) => {
        const { id } = await create({ personaSlug });
        return world.kernel.engine.store.read(async (reader) => {
          const row = await findSession(reader, id);
          return row && briefing.brief?.(reader, row, {} as never);
        });
      };
      const brief = await briefOf("skilled");
      expect(brief?.instructions.map(({ name }) => name)).toEqual(["00-SYSTEM.md", "SKILLS"]);
      const text = brief?.instructions[1]?.content ?? "";
      expect(text).toContain("- lint: Lints. (.muster/skills/lint/SKILL.md)");
      expect(text).toContain(
        "- release: Cuts a release. Use it before a tag. (.muster/skills/release/SKILL.md)",
      );
      const paths = brief?.files.map(({ path }) => path) ?? [];
      expect(paths).toContain(".muster/skills/release/SKILL.md");
      expect((await briefOf("plain"))?.instructions).toEqual([]);
    });

    const setDefault = (slug: string, method = "PUT") =>
      world.call(owner, method, `${ORG}/personas/${slug}/default`);

    it("takes the runtime and model that were asked for, else the persona's, else the usual ones", async () => {
      expect(await create({ personaSlug: "picky" })).toMatchObject({
        runtime: "scripted",
        model: "lab/large",
      });
      expect(await create({ personaSlug: "picky", runtime: "native", model: "a/b" })).toMatchObject(
        {
          runtime: "native",
          model: "a/b",
        },
      );
      expect(await create({ personaSlug: "plain" })).toMatchObject({
        runtime: "native",
        model: null,
      });
      const parent = await create({ runtime: "echo", model: "a/b" });
      const inherits = { parentSessionId: parent.id };
      expect(await create(inherits)).toMatchObject({ runtime: "echo", model: "a/b" });
      expect(await create({ ...inherits, personaSlug: "picky" })).toMatchObject({
        runtime: "scripted",
        model: "lab/large",
      });
    });

    it("is listed by the name or any address of its repository, and by no other's", async () => {
      const repo = "https://example.org/acme/lists.git";
      for (const url of [repo, "https://example.org/acme/lists-server.git"])
        await world.call(owner, "POST", `${ORG}/repos`, { url });
      const { id } = await create({ repo: "acme/lists" });
      const { id: other } = await create({ repo: "acme/lists-server" });
      const { id: unlisted } = await create({ repo: "https://github.com/acme/unlisted.git" });
      const listed = async (wanted: string) => {
        const { items } = await world.kernel.sessions.list(owner, { repo: wanted, limit: 50 });
        return items.map((session) => session.id);
      };
      for (const wanted of ["acme/lists", "Acme/Lists", repo, "https://example.org/acme/lists"])
        expect(await listed(wanted)).toEqual([id]);
      expect(await listed("acme/lists-server")).toEqual([other]);
      for (const wanted of ["acme/unlisted", "https://github.com/acme/unlisted"])
        expect(await listed(wanted)).toEqual([unlisted]);
      for (const wanted of ["lists", "acme", "%", "https://u:p@example.org/acme/lists"])
        expect(await listed(wanted)).toEqual([]);
      // A disabled repository still names its sessions.
      const { items } = await world.call<{ items: { id: string; fullName: string }[] }>(
        owner,
        "GET",
        `${ORG}/repos?q=lists`,
      );
      const entry = items.find(({ fullName }) => fullName === "acme/lists");
      await world.call(owner, "PATCH", `${ORG}/repos/${entry?.id}`, { enabled: false });
      expect(await listed("acme/lists")).toEqual([id]);
    });

    it("names the runtime that the session has, not an earlier choice", async () => {
      const { id } = await create({ personaSlug: "picky", prompt: "go" });
      const [first] = await world.kernel.sessions.events(id, 0, 10);
      expect(first).toMatchObject({ type: "session_created", data: { runtime: "scripted" } });
      expect((await world.nextTurn()).assignment).toMatchObject({ runtime: "scripted" });
    });

    it("waits, and says why, when no runner offers what the persona wants", async () => {
      const { id } = await create({ repo: "acme/api", prompt: "go" });
      const { items } = await world.kernel.prompts.list(owner, id, { limit: 10 } as never);
      expect(items[0]?.waitingFor).toMatchObject({ reason: "no_matching_runner" });
    });

    it("keeps a repository's persona when that is renamed, and gives its old slug to nobody", async () => {
      const persona = (slug: string) =>
        world.call<{ persona: { id: string } }>(owner, "POST", `${ORG}/personas`, {
          name: slug,
          slug,
          visibility: "shared",
        });
      const { persona: made } = await persona("gardener");
      const { repo } = await world.call<{ repo: { id: string } }>(owner, "POST", `${ORG}/repos`, {
        url: "https://example.org/acme/garden.git",
        personaSlug: "gardener",
      });
      const path = `${ORG}/repos/${repo.id}`;
      const rename = (idOrSlug: string, slug: string) =>
        world.call(owner, "PUT", `${ORG}/personas/${idOrSlug}`, { slug });
      await rename("gardener", "landscaper");
      await persona("gardener");
      expect((await create({ repo: "acme/garden" })).persona).toBe("landscaper");
      expect(await spawn({ repo: "acme/garden" })).toBe("landscaper");
      expect(await world.call(owner, "GET", path)).toMatchObject({
        repo: { personaSlug: "landscaper" },
      });
      expect(await world.call(owner, "GET", `${path}/persona`)).toEqual({
        persona: { id: made.id, slug: "landscaper", name: "gardener" },
      });
      // An older database has only the slug.
      const { store } = world.kernel.engine;
      await store.transaction(async (tx) => {
        const forget = "update repos set persona_id = null";
        const fill = briefing.migrations?.flatMap(({ statements }) => statements(tx.dialect)) ?? [];
        for (const sql of [forget, ...fill]) await tx.execute({ sql, parameters: [] });
      });
      expect(await world.call(owner, "GET", `${path}/persona`)).toMatchObject({
        persona: { id: made.id },
      });
      // After a persona is deleted, another one with its name does not replace it.
      const { persona: next } = await persona("successor");
      expect(
        await world.call(owner, "PUT", `${path}/persona`, { personaId: next.id }),
      ).toMatchObject({ persona: { slug: "successor" } });
      await world.call(owner, "DELETE", `${ORG}/personas/successor`);
      await persona("successor");
      expect((await create({ repo: "acme/garden" })).persona).toBeNull();
      expect(await world.call(owner, "GET", `${path}/persona`)).toEqual({
        persona: { id: next.id, slug: "successor", name: null },
      });
    });

    it("works as who was asked for, then the repository's, then the agent's choice, then the usual one", async () => {
      await setDefault("plain");
      const repo = "acme/api";
      expect((await create({ repo, personaSlug: "picky" })).persona).toBe("picky");
      expect((await create({ repo })).persona).toBe("repos");
      // The repository's persona overrides an agent's choice for its child.
      expect(await spawn({ repo, persona: "picky" })).toBe("repos");
      expect(await spawn({ persona: "picky" })).toBe("picky");
      expect(await spawn({})).toBe("plain");
      await expect(spawn({ persona: "nobody" })).rejects.toMatchObject({ kind: "not_found" });
      await setDefault("plain", "DELETE");
      expect(await spawn({})).toBeNull();
    });
  });
}

suite("what a session is made of, on SQLite", async () => undefined);
describe.skipIf(!postgresUrl)("with a server", () => {
  suite("what a session is made of, on PostgreSQL", createTestDatabase);
});

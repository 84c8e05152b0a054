import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Principal } from "#engine/index.ts";
import { member, owner, startWorld, type User, type World } from "#features/testing/index.ts";
import { type GitHost, startGitHost } from "#test/services/git-host.ts";
import { createTestDatabase, postgresUrl, type TestDatabase } from "#test/services/postgres.ts";
import {
  exportOf,
  type ImportedSkill,
  type Persona,
  type SkillSummary,
  type Version,
} from "../contract.ts";
import { createPersonas } from "../index.ts";

const BASE = "/api/orgs/org_1/personas";
const other: User = { ...member, userId: "usr_9", name: "other" };
const main = (name: string, more = "") =>
  `---\nname: ${name}\ndescription: About ${name}\n---\n${more}`;
const file = (content: string, path = "SKILL.md") => ({ path, content });

function suite(title: string, database: () => Promise<TestDatabase | undefined>): void {
  describe(title, () => {
    let world: World;
    let host: GitHost;
    let made: TestDatabase | undefined;
    let count = 0;
    beforeAll(async () => {
      made = await database();
      host = await startGitHost();
      const personas = createPersonas({ searchPath: process.env.PATH ?? "" });
      world = await startWorld([personas], made?.url);
    });
    afterAll(async () => {
      await world.stop();
      await host.stop();
      await made?.drop();
    });

    const create = async (fields: Record<string, unknown> = {}, who: Principal = owner) =>
      (
        await world.call<{ persona: Persona }>(who, "POST", BASE, {
          name: `s ${++count}`,
          ...fields,
        })
      ).persona;
    const put = async (id: string, name: string, body: object, who: Principal = owner) =>
      (await world.call<{ persona: Persona }>(who, "PUT", `${BASE}/${id}/skills/${name}`, body))
        .persona;
    const remove = async (id: string, name: string, who: Principal = owner) =>
      (await world.call<{ persona: Persona }>(who, "DELETE", `${BASE}/${id}/skills/${name}`))
        .persona;
    const list = async (id: string, who: Principal = owner) =>
      (await world.call<{ items: SkillSummary[] }>(who, "GET", `${BASE}/${id}/skills`)).items;
    const take = (id: string, body: object = {}, who: Principal = owner) =>
      world.call<{ persona: Persona; skills: ImportedSkill[] }>(
        who,
        "POST",
        `${BASE}/${id}/skills/import`,
        { url: host.url, ...body },
      );

    it("are added and removed one by one, as versions of the persona", async () => {
      const { id } = await create();
      const one = await put(id, "pdf", { files: [file(main("pdf")), file("echo", "run.sh")] });
      expect(one).toMatchObject({ version: 2, skills: [{ name: "pdf", source: null }] });
      const two = await put(id, "mail", { files: [file(main("mail"))] });
      expect(two.version).toBe(3);
      expect(await list(id)).toEqual([
        expect.objectContaining({ name: "mail", files: [{ path: "SKILL.md", bytes: 43 }] }),
        expect.objectContaining({ name: "pdf", description: "About pdf" }),
      ]);
      // The same content makes no new version.
      expect(await put(id, "mail", { files: [file(main("mail"))] })).toMatchObject({ version: 3 });
      const late = put(id, "mail", { files: [file(main("mail", "x"))], ifVersion: 2 });
      await expect(late).rejects.toMatchObject({ code: "version_changed" });
      const wrong = put(id, "mail", { files: [file(main("mail"))], sha256: "0".repeat(64) });
      await expect(wrong).rejects.toMatchObject({ code: "skill_hash_differs" });
      expect((await remove(id, "mail")).skills.map(({ name }) => name)).toEqual(["pdf"]);
      await expect(remove(id, "mail")).rejects.toMatchObject({ kind: "not_found" });
      await expect(put(id, "NO", { files: [file(main("NO"))] })).rejects.toMatchObject({
        code: "invalid_name",
      });
    });

    it("come from a repository, and say whether they are different when they come again", async () => {
      const { id } = await create({
        skills: [{ name: "mine", files: [file(main("mine"))] }],
      });
      const first = host.commit({
        "skills/pdf/SKILL.md": main("pdf"),
        "skills/x/SKILL.md": main("x"),
      });
      const taken = await take(id);
      expect(taken.skills).toMatchObject([
        { name: "pdf", change: "added", source: { commit: first, path: "skills/pdf" } },
        { name: "x", change: "added" },
      ]);
      expect(taken.persona.skills.map(({ name }) => name)).toEqual(["mine", "pdf", "x"]);
      expect(taken.persona.version).toBe(2);

      const second = host.commit({ "skills/pdf/SKILL.md": main("pdf", "More.") });
      const again = await take(id);
      expect(again.skills).toMatchObject([
        { name: "pdf", change: "changed", source: { commit: second } },
        { name: "x", change: "unchanged", source: { commit: first } },
      ]);
      expect(again.persona.version).toBe(3);
      host.commit({ "README.md": "no skill of it" });
      expect((await take(id)).persona.version).toBe(3);
      expect((await take(id)).skills.map(({ change }) => change)).toEqual([
        "unchanged",
        "unchanged",
      ]);

      // The preceding version keeps its skills, under their own commit.
      const before = await world.call<{ version: Version }>(
        owner,
        "GET",
        `${BASE}/${id}/versions/2`,
      );
      expect(before.version.skills[1]).toMatchObject({ source: { commit: first } });
      // A change of something else, or all skills sent back unchanged, keeps the sources.
      const exported = exportOf(before.version, again.persona);
      expect(exported.skills[1]).not.toHaveProperty("source");
      const { persona } = await world.call<{ persona: Persona }>(owner, "PATCH", `${BASE}/${id}`, {
        description: "d",
        skills: again.persona.skills.map(({ name, files }) => ({ name, files })),
      });
      expect(persona.skills).toEqual(again.persona.skills);
    });

    it("are nothing that others may change, nor fetched for them", async () => {
      const { id } = await create({ visibility: "shared" });
      host.asked.length = 0;
      for (const who of [member, other]) {
        const body = { files: [file(main("pdf"))] };
        await expect(put(id, "pdf", body, who)).rejects.toMatchObject({ kind: "forbidden" });
        await expect(remove(id, "pdf", who)).rejects.toMatchObject({ kind: "forbidden" });
        await expect(take(id, {}, who)).rejects.toMatchObject({ kind: "forbidden" });
      }
      expect(await list(id, other)).toEqual([]);
      const hidden = await create({}, member);
      await expect(list(hidden.id, other)).rejects.toMatchObject({ kind: "not_found" });
      await expect(take(hidden.id, {}, other)).rejects.toMatchObject({ kind: "not_found" });
      expect(host.asked).toEqual([]);
    });

    it("are not fetched from the server's own network for a member", async () => {
      const { id } = await create({}, member);
      host.asked.length = 0;
      await expect(take(id, {}, member)).rejects.toMatchObject({ code: "url_invalid" });
      const secure = host.url.replace("http:", "https:");
      await expect(take(id, { url: secure }, member)).rejects.toMatchObject({
        kind: "forbidden",
        code: "address_refused",
      });
      await expect(take(id, { url: "/etc" }, owner)).rejects.toMatchObject({ kind: "not_found" });
      expect(host.asked).toEqual([]);
    });

    it("are at most twenty", async () => {
      const skills = Array.from({ length: 20 }, (_, n) => ({
        name: `s${n}`,
        files: [file(main(`s${n}`))],
      }));
      const { id } = await create({ skills });
      const more = put(id, "more", { files: [file(main("more"))] });
      await expect(more).rejects.toMatchObject({ kind: "too_large", code: "persona_too_large" });
    });
  });
}

suite("skills on sqlite", async () => undefined);
describe.skipIf(!postgresUrl)("with a server", () => {
  suite("skills on postgres", createTestDatabase);
});

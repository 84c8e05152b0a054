import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Principal } from "#engine/index.ts";
import {
  member,
  owner,
  startWorld,
  stranger,
  type User,
  type World,
} from "#features/testing/index.ts";
import { createTestDatabase, postgresUrl, type TestDatabase } from "#test/services/postgres.ts";
import { exportOf, type Persona, type PersonaSummary, type Version } from "./contract.ts";
import {
  createPersonas,
  type PersonaSelection,
  pinPersona,
  readPinnedPersona,
  resolvePersona,
  shipPersonas,
} from "./index.ts";
import { removeForgotten } from "./remove-persona.ts";

const BASE = "/api/orgs/org_1/personas";
const other: User = { ...member, userId: "usr_9", name: "other" };
const KIB = 1024;
const file = (filename: string, content = "x", sortOrder = 0) => ({ filename, content, sortOrder });
const skill = (name: string, extra: { path: string; content: string }[] = []) => ({
  name,
  files: [
    { path: "SKILL.md", content: `---\nname: ${name}\ndescription: About ${name}\n---\n` },
    ...extra,
  ],
});

function suite(title: string, database: () => Promise<TestDatabase | undefined>): void {
  describe(title, () => {
    let world: World;
    let made: TestDatabase | undefined;
    let count = 0;
    beforeAll(async () => {
      made = await database();
      world = await startWorld([createPersonas({ searchPath: "" })], made?.url);
    });
    afterAll(async () => {
      await world.stop();
      await made?.drop();
    });

    const fresh = () => `p-${++count}`;
    const create = async (fields: Record<string, unknown> = {}, who: Principal = member) =>
      (await world.call<{ persona: Persona }>(who, "POST", BASE, { name: fresh(), ...fields }))
        .persona;
    const get = async (id: string, who: Principal = member) =>
      (await world.call<{ persona: Persona }>(who, "GET", `${BASE}/${id}`)).persona;
    const change = async (id: string, body: unknown, who: Principal = member) =>
      (await world.call<{ persona: Persona }>(who, "PUT", `${BASE}/${id}`, body)).persona;
    const remove = async (id: string, who: Principal = member) =>
      (await world.call<{ persona: PersonaSummary }>(who, "DELETE", `${BASE}/${id}`)).persona;
    const version = async (id: string, n: number | string, who: Principal = member) =>
      (await world.call<{ version: Version }>(who, "GET", `${BASE}/${id}/versions/${n}`)).version;
    const list = (query = "", who: Principal = member) =>
      world.call<{ items: PersonaSummary[]; next: string | null }>(who, "GET", `${BASE}${query}`);
    const setDefault = (id: string, who: Principal = owner, method = "PUT") =>
      world.call<{ persona: PersonaSummary }>(who, method, `${BASE}/${id}/default`);
    const resolve = (request: Partial<PersonaSelection>) =>
      world.kernel.engine.store.read((reader) =>
        resolvePersona(reader, { orgId: "org_1", userId: "usr_2", purpose: "task", ...request }),
      );
    const pin = (
      sessionId: string,
      persona: { personaId: string; versionId: string; slug: string; version: number },
    ) =>
      world.kernel.engine.store.transaction((tx) =>
        pinPersona(tx, { id: sessionId, org_id: "org_1", labels: "" }, persona),
      );
    const pinned = (sessionId: string, userId = "usr_2") =>
      world.kernel.engine.store.read((reader) =>
        readPinnedPersona(reader, { sessionId, userId, purpose: "task" }),
      );
    const execute = (sql: string) =>
      world.kernel.engine.store.transaction((tx) => tx.execute({ sql, parameters: [] }));
    const refused = (code: string, kind?: string) =>
      expect.objectContaining(kind === undefined ? { code } : { code, kind });

    it("creates one with files, settings and skills, private at first", async () => {
      const persona = await create({
        name: "Front End",
        description: "Knows React",
        icon: "🎨",
        model: "lab/small",
        runtime: "native",
        enableMemory: true,
        toolPolicy: [{ tool: "bash", pattern: "npm test", effect: "allow" }],
        files: [file("TOOLS.md", "tools", 2), file("SYSTEM.md", "system", 1)],
        skills: [skill("slides", [{ path: "scripts/a.sh", content: "echo ü\n" }])],
      });
      expect(persona).toMatchObject({
        id: expect.stringMatching(/^psn_/),
        slug: "front-end",
        visibility: "private",
        isDefault: false,
        version: 1,
        createdBy: "usr_2",
        mayEdit: true,
        enableMemory: true,
        archivedAt: null,
        files: [file("SYSTEM.md", "system", 1), file("TOOLS.md", "tools", 2)],
        skills: [{ name: "slides", description: "About slides", sha256: expect.any(String) }],
      });
      expect(await get("front-end")).toEqual(persona);
      expect(await get(persona.id)).toEqual(persona);
    });

    it("makes a version of every change, and never changes one", async () => {
      const { id } = await create({ files: [file("A.md", "one")] });
      const first = await version(id, 1);
      expect((await change(id, { files: [file("A.md", "two")] })).version).toBe(2);
      expect((await change(id, { description: "d", ifVersion: 2 })).version).toBe(3);
      const filesOnly = await world.call<{ persona: Persona }>(
        member,
        "PUT",
        `${BASE}/${id}/files`,
        { files: [file("B.md", "one")] },
      );
      expect(filesOnly.persona).toMatchObject({
        version: 4,
        description: "d",
        files: [file("B.md", "one")],
      });
      // The same content makes no new version.
      expect((await change(id, { files: [file("B.md", "one")] })).version).toBe(4);
      expect(await version(id, 1)).toEqual(first);
      expect(await version(id, 2)).toMatchObject({ files: [file("A.md", "two")] });
      const path = `${BASE}/${id}/versions`;
      type Page = { items: { version: number; sha256: string }[]; next: string | null };
      const newest = await world.call<Page>(member, "GET", `${path}?limit=3`);
      expect(newest.items.map((item) => item.version)).toEqual([4, 3, 2]);
      const rest = await world.call<Page>(member, "GET", `${path}?limit=3&cursor=${newest.next}`);
      expect(rest).toMatchObject({ items: [{ version: 1 }], next: null });
      for (const n of ["5", "0", "-1", "x", "1e1", "99999999999"])
        await expect(version(id, n)).rejects.toEqual(refused("not_found"));
      await expect(change(id, { name: "n", ifVersion: 3 })).rejects.toEqual(
        refused("version_changed", "conflict"),
      );
    });

    it("has the same hash for the same content", async () => {
      const fields = { name: "Twin", files: [file("A.md"), file("B.md")], skills: [skill("s")] };
      const one = await create({ ...fields, slug: fresh() });
      const two = await create({ ...fields, slug: fresh(), files: fields.files.toReversed() });
      expect((await version(one.id, 1)).sha256).toBe((await version(two.id, 1)).sha256);
      await change(two.id, { icon: "x" });
      expect((await version(two.id, 2)).sha256).not.toBe((await version(one.id, 1)).sha256);
    });

    it("refuses a slug that is taken, and says one that is free", async () => {
      await create({ slug: "taken", visibility: "shared" });
      await create({ slug: "taken-2" });
      const again = create({ slug: "taken" }, other);
      await expect(again).rejects.toEqual(
        expect.objectContaining({
          kind: "conflict",
          code: "slug_taken",
          message: expect.stringContaining("taken-3"),
          details: [{ path: "slug", message: "taken-3" }],
        }),
      );
      await expect(create({ name: "Taken!" })).rejects.toEqual(refused("slug_taken"));
      const mine = await create();
      await expect(change(mine.id, { slug: "taken" })).rejects.toEqual(refused("slug_taken"));
      const renamed = await change(mine.id, { slug: "renamed-now" });
      expect(renamed).toMatchObject({ slug: "renamed-now", version: 1 });
      await expect(get(mine.slug)).rejects.toEqual(refused("not_found"));
    });

    it("lets one of many at once have the slug", async () => {
      const tries = Array.from({ length: 5 }, () => create({ slug: "wanted-by-all" }));
      const results = await Promise.allSettled(tries);
      expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
      for (const result of results)
        if (result.status === "rejected") expect(result.reason).toEqual(refused("slug_taken"));
    });

    it("keeps private ones to their maker, also from admins", async () => {
      const hidden = await create({ name: "Only mine" });
      for (const who of [other, owner]) {
        for (const name of [hidden.id, hidden.slug]) {
          const missing = await get("psn_none", who).catch((error: Error) => error.message);
          await expect(get(name, who)).rejects.toEqual(
            expect.objectContaining({ code: "not_found", message: missing }),
          );
          await expect(change(name, { name: "x" }, who)).rejects.toEqual(refused("not_found"));
          await expect(remove(name, who)).rejects.toEqual(refused("not_found"));
          await expect(version(name, 1, who)).rejects.toEqual(refused("not_found"));
        }
        const { items } = await list("?limit=200", who);
        expect(items.map(({ id }) => id)).not.toContain(hidden.id);
      }
      await expect(setDefault(hidden.id)).rejects.toEqual(refused("not_found"));
      await expect(resolve({ asked: hidden.slug, userId: "usr_9" })).rejects.toEqual(
        refused("not_found"),
      );
      await expect(resolve({ asked: hidden.slug, userId: null })).rejects.toEqual(
        refused("not_found"),
      );
      expect(await resolve({ asked: hidden.slug })).toMatchObject({ personaId: hidden.id });
    });

    it("is changed by its maker or an admin, and by nobody else", async () => {
      const shared = await create({ visibility: "shared" });
      expect(await get(shared.id, other)).toMatchObject({ mayEdit: false });
      expect(await get(shared.id, owner)).toMatchObject({ mayEdit: true });
      const narrowAdmin: User = { ...owner, scopes: ["sessions:read", "sessions:write"] };
      for (const who of [other, narrowAdmin]) {
        await expect(change(shared.id, { name: "x" }, who)).rejects.toEqual(refused("forbidden"));
        await expect(remove(shared.id, who)).rejects.toEqual(refused("forbidden"));
        await expect(setDefault(shared.id, who)).rejects.toEqual(refused("forbidden"));
      }
      expect(await change(shared.id, { description: "by an admin" }, owner)).toMatchObject({
        createdBy: "usr_2",
        version: 2,
      });
      const reader: User = { ...member, scopes: ["sessions:read"] };
      expect((await get(shared.id, reader)).mayEdit).toBe(false);
      await expect(change(shared.id, { name: "x" }, reader)).rejects.toEqual(refused("forbidden"));
      await expect(create({}, reader)).rejects.toEqual(refused("forbidden"));
      await expect(get(shared.id, { ...member, scopes: ["mail"] })).rejects.toEqual(
        refused("forbidden"),
      );
    });

    it("is not for agents and runners, nor for another organisation", async () => {
      const shared = await create({ visibility: "shared" });
      const agent: Principal = {
        kind: "session",
        orgId: "org_1",
        sessionId: "ses_1",
        ownerId: "usr_2",
        name: "agent",
      };
      for (const call of [get(shared.id, agent), create({}, agent), remove(shared.id, agent)])
        await expect(call).rejects.toEqual(refused("people_only", "forbidden"));
      await expect(get(shared.id, stranger)).rejects.toEqual(refused("not_found"));
      await expect(create({}, stranger)).rejects.toEqual(refused("not_found"));
      await expect(
        world.call(stranger, "GET", `/api/orgs/org_2/personas/${shared.id}`),
      ).rejects.toEqual(refused("not_found"));
      await expect(resolve({ orgId: "org_2", asked: shared.id })).rejects.toEqual(
        refused("not_found"),
      );
    });

    it.each([
      ["one file of 5 MB", [file("A.md", "a".repeat(5 * KIB * KIB))]],
      ["a file over 256 KB, counted in bytes", [file("A.md", "ü".repeat(128 * KIB + 1))]],
      [
        "files over 1 MB together",
        Array.from({ length: 5 }, (_, at) => file(`F${at}.md`, "a".repeat(250 * KIB))),
      ],
    ])("refuses %s as too large", async (_what, files) => {
      await expect(create({ files })).rejects.toEqual(refused("persona_too_large", "too_large"));
      const { id } = await create();
      await expect(change(id, { files })).rejects.toEqual(refused("persona_too_large"));
      expect((await get(id)).version).toBe(1);
    });

    it("refuses skills that are too large together", async () => {
      const half = [{ path: "a.txt", content: "a".repeat(KIB * KIB) }];
      await expect(create({ skills: [skill("a", half), skill("b", half)] })).rejects.toEqual(
        refused("persona_too_large"),
      );
      const many = Array.from({ length: 60 }, (_, at) => ({ path: `f${at}`, content: "" }));
      await expect(create({ skills: [skill("a", many), skill("b", many)] })).rejects.toEqual(
        refused("persona_too_large"),
      );
      expect((await create({ skills: [skill("a", many)] })).skills[0]?.files).toHaveLength(61);
    });

    it("takes as much as is allowed", async () => {
      const files = Array.from({ length: 4 }, (_, at) => file(`F${at}.md`, "a".repeat(256 * KIB)));
      const persona = await create({ files });
      expect(persona.files.map(({ content }) => content.length)).toEqual(Array(4).fill(256 * KIB));
    });

    it.each<[string, Record<string, unknown>]>([
      ["a file called ../x", { files: [file("../x")] }],
      ["a file with NUL in its name", { files: [file("a\u0000.md")] }],
      ["a file with NUL in it", { files: [file("a.md", "a\u0000b")] }],
      ["a file with broken Unicode", { files: [file("a.md", "\ud800")] }],
      ["a device", { files: [file("AUX.md")] }],
      ["two names for one file", { files: [file("a.md"), file("A.md")] }],
      ["51 files", { files: Array.from({ length: 51 }, (_, at) => file(`f${at}.md`)) }],
      ["a place that is no whole number", { files: [{ ...file("a.md"), sortOrder: 1.5 }] }],
      ["an unknown field", { owner: "me" }],
      ["an unknown field of a file", { files: [{ ...file("a.md"), path: "/" }] }],
      ["a name of nothing", { name: "  " }],
      ["a name of two lines", { name: "a\nb" }],
      ["a slug with capitals", { slug: "Upper" }],
      ["a slug that could be an id", { slug: "psn_1" }],
      ["an unknown visibility", { visibility: "public" }],
      ["a skill outside its folder", { skills: [skill("a", [{ path: "../x", content: "" }])] }],
      ["the same skill twice", { skills: [skill("a"), skill("a")] }],
      ["21 skills", { skills: Array.from({ length: 21 }, (_, at) => skill(`s${at}`)) }],
      [
        "a file that is a folder too",
        { skills: [skill("a", [{ path: "SKILL.md/x", content: "" }])] },
      ],
      ["a rule of no effect", { toolPolicy: [{ tool: "bash", pattern: "x", effect: "maybe" }] }],
      ["a rule for no tool", { toolPolicy: [{ tool: "Ba sh", pattern: "x", effect: "deny" }] }],
      [
        "a rule for half a host",
        { toolPolicy: [{ tool: "web_fetch", pattern: "https://a.b*", effect: "allow" }] },
      ],
      [
        "a glob without end",
        { toolPolicy: [{ tool: "bash", pattern: "*".repeat(501), effect: "deny" }] },
      ],
      [
        "a rule of another level",
        { toolPolicy: [{ tool: "bash", pattern: "x", effect: "deny", level: "org" }] },
      ],
    ])("refuses %s", async (_what, fields) => {
      const before = (await list("?limit=200")).items.length;
      await expect(create(fields)).rejects.toMatchObject({ name: "ZodError" });
      expect((await list("?limit=200")).items).toHaveLength(before);
    });

    it("refuses a skill without a proper SKILL.md", async () => {
      const skills = [{ name: "a", files: [{ path: "README.md", content: "hi" }] }];
      await expect(create({ skills })).rejects.toEqual(refused("skill_invalid", "invalid"));
    });

    it("lists by slug, in pages, and finds by words and visibility", async () => {
      const word = `zq${fresh().replace("-", "")}`;
      for (const slug of ["c", "a", "b"])
        await create({ name: `${word} ${slug.toUpperCase()} ÄÖ`, slug: `${word}-${slug}` });
      await create({ name: "Shared", slug: `${word}-d`, visibility: "shared" }, other);
      await create({ name: "Hidden", slug: `${word}-e` }, other);
      const slugs = async (query: string) =>
        (await list(query)).items.map(({ slug }) => slug.slice(word.length + 1));
      const q = `q=${word.toUpperCase()}`;
      expect(await slugs(`?${q}`)).toEqual(["a", "b", "c", "d"]);
      expect(await slugs(`?${q}&visibility=private`)).toEqual(["a", "b", "c"]);
      expect(await slugs(`?${q}&visibility=shared`)).toEqual(["d"]);
      expect(await slugs(`?q=${encodeURIComponent(`${word} a äö`)}`)).toEqual(["a"]);
      expect(await slugs("?q=%25zq")).toEqual([]);
      const first = await list(`?${q}&limit=3`);
      const second = await list(`?${q}&limit=3&cursor=${first.next}`);
      expect([...first.items, ...second.items].map(({ slug }) => slug.at(-1))).toEqual([
        "a",
        "b",
        "c",
        "d",
      ]);
      expect(second.next).toBeNull();
      await expect(list("?cursor=nonsense")).rejects.toEqual(refused("cursor_invalid"));
    });

    it("has one default for everyone, set by admins", async () => {
      const one = await create({ visibility: "shared", files: [file("A.md", "default")] });
      const two = await create({ visibility: "shared" });
      expect(await resolve({})).toBeUndefined();
      await expect(setDefault(one.id, member)).rejects.toEqual(refused("forbidden"));
      await Promise.all([setDefault(one.id), setDefault(two.id), setDefault(one.id)]);
      await setDefault(one.id);
      const defaults = (await list("?limit=200")).items.filter(({ isDefault }) => isDefault);
      expect(defaults.map(({ id }) => id)).toEqual([one.id]);
      expect(await resolve({ userId: "usr_9" })).toMatchObject({
        personaId: one.id,
        files: [{ name: "00-A.md", content: "default" }],
      });
      await expect(change(one.id, { visibility: "private" })).rejects.toEqual(
        refused("persona_is_default", "conflict"),
      );
      await expect(remove(one.id)).rejects.toEqual(refused("persona_is_default"));
      const hidden = await create({}, owner);
      await expect(setDefault(hidden.id)).rejects.toEqual(refused("persona_not_shared"));
      // Unsetting another persona leaves the default.
      await setDefault(two.id, owner, "DELETE");
      expect((await resolve({}))?.personaId).toBe(one.id);
      const { persona } = await setDefault(one.id, owner, "DELETE");
      expect(persona.isDefault).toBe(false);
      expect(await resolve({})).toBeUndefined();
    });

    it("can be made the default with its settings, by admins", async () => {
      await expect(create({ isDefault: true })).rejects.toEqual(refused("forbidden"));
      const made = await create({ isDefault: true }, owner);
      expect(made).toMatchObject({ isDefault: true, visibility: "shared" });
      await expect(create({ isDefault: true, visibility: "private" }, owner)).rejects.toEqual(
        refused("persona_not_shared"),
      );
      const mine = await create();
      await expect(change(mine.id, { isDefault: true })).rejects.toEqual(refused("forbidden"));
      // A change to the present value changes nothing.
      expect(await change(mine.id, { isDefault: false })).toMatchObject({ version: 1 });
      await expect(change(made.id, { visibility: "private" }, owner)).rejects.toEqual(
        refused("persona_is_default"),
      );
      const hidden = await change(made.id, { visibility: "private", isDefault: false }, owner);
      expect(hidden).toMatchObject({ isDefault: false, visibility: "private" });
      expect(await resolve({})).toBeUndefined();
    });

    it("is changed by PATCH as by PUT", async () => {
      const { id } = await create({ description: "d" });
      const path = `${BASE}/${id}`;
      const body = { files: [file("A.md")] };
      const { persona } = await world.call<{ persona: Persona }>(member, "PATCH", path, body);
      expect(persona).toMatchObject({ version: 2, description: "d", files: body.files });
    });

    it("chooses what was asked for, then the repository's, the orchestrator's, the default", async () => {
      const make = () => create({ visibility: "shared" });
      const [asked, ofRepo, chosen, standard] = [
        await make(),
        await make(),
        await make(),
        await make(),
      ];
      await setDefault(standard.id);
      const request: Partial<PersonaSelection> = {
        asked: asked.slug,
        repoDefault: ofRepo.id,
        orchestratorChoice: chosen.slug,
      };
      const order = [];
      for (const left of ["asked", "repoDefault", "orchestratorChoice", "none"] as const) {
        order.push((await resolve(request))?.slug);
        if (left !== "none") delete request[left];
      }
      expect(order).toEqual([asked.slug, ofRepo.slug, chosen.slug, standard.slug]);
      const hidden = await create({}, other);
      expect((await resolve({ repoDefault: hidden.id }))?.slug).toBe(standard.slug);
      expect((await resolve({ repoDefault: "psn_gone" }))?.slug).toBe(standard.slug);
      await expect(resolve({ asked: "gone" })).rejects.toEqual(refused("not_found"));
      await expect(resolve({ orchestratorChoice: "gone" })).rejects.toEqual(refused("not_found"));
      await setDefault(standard.id, owner, "DELETE");
    });

    it("gives what an agent needs, for its purpose", async () => {
      const persona = await create({
        model: "lab/small",
        enableMemory: false,
        files: [file("REVIEW.md", "r", 1), file("SYSTEM.md", "s", 2), file("SAFETY.md", "!", 3)],
        skills: [skill("slides")],
      });
      const given = await resolve({ asked: persona.id, purpose: "review" });
      expect(given).toEqual({
        source: "asked",
        personaId: persona.id,
        versionId: expect.stringMatching(/^psv_/),
        slug: persona.slug,
        name: persona.name,
        version: 1,
        files: [
          { name: "00-SAFETY.md", content: "!" },
          { name: "01-REVIEW.md", content: "r" },
          { name: "02-SYSTEM.md", content: "s" },
        ],
        skills: persona.skills,
        model: "lab/small",
        runtime: null,
        enableMemory: false,
        toolPolicy: [],
      });
      const names = (await resolve({ asked: persona.id }))?.files.map(({ name }) => name);
      expect(names).toEqual(["00-SAFETY.md", "01-SYSTEM.md"]);
    });

    it("lets nobody allow tools for somebody else by a persona", async () => {
      const allow = { tool: "bash", pattern: "*", effect: "allow" };
      const deny = { tool: "bash", pattern: "rm *", effect: "deny" };
      const { id } = await create({ visibility: "shared", toolPolicy: [allow, deny] });
      const rules = async (userId: string | null) =>
        (await resolve({ asked: id, userId }))?.toolPolicy;
      expect(await rules("usr_2")).toEqual([allow, deny]);
      expect(await rules("usr_9")).toEqual([deny]);
      expect(await rules(null)).toEqual([deny]);
      // An admin who edits something else does not approve the rules.
      await change(id, { description: "mended" }, owner);
      expect(await rules("usr_9")).toEqual([deny]);
      expect(await rules("usr_2")).toEqual([allow, deny]);
      await change(id, { toolPolicy: [deny, allow] }, owner);
      expect(await rules("usr_9")).toEqual([deny, allow]);
    });

    it("stays as it was pinned until it is pinned anew", async () => {
      const session = await world.createSession({}, member);
      const { id } = await create({ files: [file("A.md", "old")] });
      expect(await pinned(session)).toBeUndefined();
      await pin(session, (await resolve({ asked: id })) as never);
      await change(id, { files: [file("A.md", "new")], model: "lab/large" });
      expect(await pinned(session)).toMatchObject({
        version: 1,
        model: null,
        files: [{ name: "00-A.md", content: "old" }],
      });
      await pin(session, (await resolve({ asked: id })) as never);
      expect(await pinned(session)).toMatchObject({
        version: 2,
        model: "lab/large",
        files: [{ name: "00-A.md", content: "new" }],
      });
    });

    it("is archived when it is deleted in use, and gone when it is not", async () => {
      const session = await world.createSession({}, member);
      const used = await create({ slug: "used-one", files: [file("A.md", "kept")] });
      await pin(session, (await resolve({ asked: used.id })) as never);
      const answer = await remove(used.id);
      expect(answer).toMatchObject({ id: used.id, archivedAt: expect.any(String), mayEdit: false });
      expect(await pinned(session)).toMatchObject({ files: [{ content: "kept" }] });
      expect((await get(used.id)).archivedAt).not.toBeNull();
      await expect(get("used-one")).rejects.toEqual(refused("not_found"));
      await expect(resolve({ asked: used.id })).rejects.toEqual(refused("not_found"));
      await expect(change(used.id, { name: "x" })).rejects.toEqual(
        refused("persona_archived", "conflict"),
      );
      await expect(remove(used.id)).rejects.toEqual(refused("persona_archived"));
      expect((await list("?q=used-one")).items).toEqual([]);
      // The slug is free again.
      const next = await create({ slug: "used-one" });
      expect((await remove(next.id)).archivedAt).toBeNull();
      await expect(get(next.id)).rejects.toEqual(refused("not_found"));
      const gone = { personaId: next.id, versionId: "psv_gone", slug: "used-one", version: 1 };
      await expect(pin(session, gone)).rejects.toEqual(refused("not_found"));

      await removeForgotten(world.kernel.engine);
      expect(await pinned(session)).toMatchObject({ personaId: used.id });
      await execute(`delete from persona_pins where session_id = '${session}'`);
      await removeForgotten(world.kernel.engine);
      await expect(get(used.id)).rejects.toEqual(refused("not_found"));
    });

    it("never takes a persona from a session that begins to use it", async () => {
      for (let round = 0; round < 5; round++) {
        const session = await world.createSession({}, member);
        const { id } = await create();
        const wanted = (await resolve({ asked: id })) as never;
        const [took] = await Promise.allSettled([pin(session, wanted), remove(id)]);
        const isThere = (await pinned(session)) !== undefined;
        expect(isThere).toBe(took.status === "fulfilled");
      }
    });

    it("can be exported and created again", async () => {
      const made = await create({
        files: [file("A.md", "a", 3)],
        skills: [skill("s")],
        toolPolicy: [{ tool: "bash", pattern: "ls", effect: "deny" }],
      });
      const copy = await create({
        ...exportOf(await version(made.id, 1), made),
        slug: fresh(),
      });
      expect((await version(copy.id, 1)).sha256).toBe((await version(made.id, 1)).sha256);
    });

    it("ships three personas to every organisation, once", async () => {
      await execute(
        "insert into orgs (id, name, slug, created_at) values ('org_1', 'a', 'a', 0), ('org_2', 'b', 'b', 0)",
      );
      await create({ slug: "researcher" });
      await Promise.all([shipPersonas(world.kernel.engine), shipPersonas(world.kernel.engine)]);
      const shipped = async (who: Principal, org: string) => {
        const path = `/api/orgs/${org}/personas?limit=200`;
        const { items } = await world.call<{ items: PersonaSummary[] }>(who, "GET", path);
        return items.filter(({ createdBy }) => createdBy === "system").map(({ slug }) => slug);
      };
      // A slug that a person has taken stays theirs.
      expect(await shipped(member, "org_1")).toEqual(["engineer", "researcher-2", "reviewer"]);
      expect(await shipped(stranger, "org_2")).toEqual(["engineer", "researcher", "reviewer"]);
      expect(await get("engineer")).toMatchObject({ visibility: "shared", mayEdit: false });
      await expect(change("engineer", { visibility: "private" }, owner)).rejects.toEqual(
        refused("persona_has_no_owner"),
      );
      await change("engineer", { files: [file("OURS.md")] }, owner);
      await remove("reviewer", owner);
      await execute('update persona_orgs set shipped = \'["engineer","reviewer"]\'');
      await execute("delete from personas where slug = 'researcher-2'");
      await shipPersonas(world.kernel.engine);
      expect((await get("engineer")).files).toEqual([file("OURS.md")]);
      expect(await shipped(member, "org_1")).toEqual(["engineer", "researcher-2"]);
    });
  });
}

suite("personas on sqlite", async () => undefined);

describe.skipIf(!postgresUrl)("with a server", () => {
  suite("personas on postgres", createTestDatabase);
});

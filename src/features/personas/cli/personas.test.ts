import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { newPersonaSchema } from "#features/personas/contract.ts";
import { createFakeHost, type FakeHostOptions, runCommand } from "#test/cli/fake-host.ts";
import { FakeServer, reply } from "#test/cli/fake-server.ts";

const BASE = "/api/orgs/org_1/personas";
const persona = {
  id: "psn_1",
  slug: "web",
  name: "Web",
  description: "Knows the web",
  icon: null,
  visibility: "shared",
  isDefault: true,
  model: "lab/small",
  runtime: null,
  enableMemory: true,
  version: 3,
  createdBy: "usr_1",
  mayEdit: true,
  createdAt: new Date().toISOString(),
  updatedAt: new Date().toISOString(),
  archivedAt: null as string | null,
  toolPolicy: [{ tool: "bash", pattern: "rm *", effect: "deny" }],
  files: [{ filename: "SYSTEM.md", content: "# Hello\u001b[2J\n", sortOrder: 4 }],
  skills: [
    {
      name: "slides",
      description: "Makes slides",
      sha256: "ab".repeat(32),
      files: [
        { path: "SKILL.md", content: "---\nname: slides\ndescription: Makes slides\n---\n" },
        { path: "scripts/run.sh", content: "echo\n" },
      ],
    },
  ],
};
const version = { ...persona, id: "psv_3", sha256: "cd".repeat(32) };

let server: FakeServer;
let folder: string;
beforeEach(async () => {
  server = await new FakeServer().start();
  folder = mkdtempSync(join(tmpdir(), "personas-"));
  answers("GET", "/api/me", { org: { id: "org_1" } });
  answers("GET", BASE, { items: [persona], next: null });
  answers("GET", `${BASE}/web`, { persona });
  answers("GET", `${BASE}/web/versions/3`, { version });
  for (const [method, path] of [
    ["POST", BASE],
    ["PUT", `${BASE}/web`],
    ["DELETE", `${BASE}/web`],
    ["PUT", `${BASE}/web/default`],
    ["DELETE", `${BASE}/web/default`],
  ] as const)
    answers(method, path, { persona });
});
afterEach(async () => {
  rmSync(folder, { recursive: true });
  await server.stop();
});

function answers(method: string, path: string, body: unknown): void {
  server.answer(method, path, (_seen, response) => reply(response, 200, body));
}
async function run(words: string[], options: FakeHostOptions = {}) {
  const host = createFakeHost({ env: server.env, ...options });
  const code = await runCommand(host, "personas", ...words);
  return { code, out: host.out, err: host.err };
}
function write(path: string, content: string | Buffer): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), content);
}
const read = (path: string) => readFileSync(join(folder, path), "utf8");
const sent = (method: string, path: string) =>
  server.requests(method, path).map(({ body }) => body);

describe("muster personas", () => {
  it("lists them, for people and for programs", async () => {
    const { code, out } = await run(["ls", "--q", "w", "--visibility", "shared"]);
    expect(code).toBe(0);
    expect(out).toMatch(/web +Web +shared, default +3 +just now +Knows the web/);
    expect(server.requests("GET", BASE)[0]?.query).toMatchObject({ q: "w", visibility: "shared" });
    expect(JSON.parse((await run(["ls", "--json"])).out).items[0].slug).toBe("web");
    expect((await run(["ls", "--visibility", "public"])).code).toBe(2);
    answers("GET", BASE, { items: [], next: null });
    expect((await run(["ls"])).out).toContain("muster personas create");
  });

  it("shows one, as it is and as it was", async () => {
    const { out } = await run(["show", "web"]);
    expect(out).toContain("Web (web, shared, default, version 3)");
    expect(out).toContain("deny: bash rm *");
    expect(out).toContain("skill: slides (abababababab): Makes slides");
    expect(out).toContain("── SYSTEM.md\n# Hello<U+001B>[2J");
    expect(out).not.toContain("\u001b");
    expect((await run(["show", "web", "--at", "3"])).out).toContain("version 3");
    expect((await run(["show", "web", "--at", "0"])).code).toBe(2);
    expect((await run(["show", "none"])).code).toBe(6);
  });

  it("creates one from a folder", async () => {
    write("persona.json", JSON.stringify({ name: "Web", model: "a/b", sortOrder: { "B.md": 2 } }));
    write("A.md", "ä");
    write("B.md", "b");
    write(".hidden", "not sent");
    write("skills/slides/SKILL.md", "---\nname: slides\ndescription: d\n---\n");
    write("skills/slides/scripts/run.sh", "echo");
    const { code, out } = await run(["create", "--from", folder, "--visibility", "shared"]);
    expect(code).toBe(0);
    expect(out).toBe("web is saved: shared, version 3, 1 files, 1 skills.\n");
    const [body] = sent("POST", BASE);
    expect(body).toEqual({
      name: "Web",
      model: "a/b",
      visibility: "shared",
      files: [
        { filename: "A.md", content: "ä", sortOrder: 0 },
        { filename: "B.md", content: "b", sortOrder: 2 },
      ],
      skills: [
        {
          name: "slides",
          files: [
            { path: "SKILL.md", content: "---\nname: slides\ndescription: d\n---\n" },
            { path: "scripts/run.sh", content: "echo" },
          ],
        },
      ],
    });
    expect(newPersonaSchema.safeParse(body).success).toBe(true);
  });

  it("takes the folder's name where none is said, but does not rename with it", async () => {
    write("sub/A.md", "a");
    await run(["create", "--from", join(folder, "sub")]);
    expect(sent("POST", BASE)[0]).toMatchObject({ name: "sub" });
    await run(["edit", "web", "--from", join(folder, "sub")]);
    expect(sent("PUT", `${BASE}/web`)[0]).toEqual({
      files: [{ filename: "A.md", content: "a", sortOrder: 0 }],
      skills: [],
    });
  });

  it("edits settings alone", async () => {
    await run(["edit", "web", "--model", "none", "--memory", "off", "--description", ""]);
    await run(["edit", "web", "--memory", "session"]);
    expect(sent("PUT", `${BASE}/web`)).toEqual([
      { model: null, enableMemory: false, description: "" },
      { enableMemory: null },
    ]);
    expect((await run(["edit", "web"])).code).toBe(2);
    expect((await run(["create"])).code).toBe(2);
  });

  it.each<[string, () => void]>([
    ["a link", () => symlinkSync("/etc/hostname", join(folder, "LINK.md"))],
    ["a folder among the files", () => write("docs/A.md", "a")],
    ["a file that is no text", () => write("A.md", Buffer.from([0xff, 0xfe, 0x00]))],
    ["a file that is too large", () => write("A.md", "a".repeat(256 * 1024 + 1))],
    ["settings that are no JSON", () => write("persona.json", "{")],
    ["a setting that does not exist", () => write("persona.json", '{"owner":"me"}')],
    ["a skill that is a file", () => write("skills/a", "x")],
    [
      "a link in a skill",
      () => {
        write("skills/a/SKILL.md", "x");
        symlinkSync("/etc", join(folder, "skills/a/etc"));
      },
    ],
    [
      "too many files",
      () => {
        for (let at = 0; at < 51; at++) write(`f${at}.md`, "");
      },
    ],
  ])("sends nothing from a folder with %s", async (_what, make) => {
    make();
    const { code, err } = await run(["create", "--from", folder]);
    expect(code).toBe(2);
    expect(err).toContain("folder_invalid");
    expect(sent("POST", BASE)).toEqual([]);
  });

  it("says when the folder is not there", async () => {
    const { code, err } = await run(["create", "--from", join(folder, "none")]);
    expect(code).toBe(2);
    expect(err).toContain("does not exist");
  });

  it("exports to a folder from which it can be created again", async () => {
    const to = join(folder, "out");
    expect((await run(["export", "web", "--to", to])).code).toBe(0);
    expect(read("out/SYSTEM.md")).toBe("# Hello\u001b[2J\n");
    expect(read("out/skills/slides/scripts/run.sh")).toBe("echo\n");
    await run(["create", "--from", to]);
    const [body] = sent("POST", BASE);
    expect(body).toMatchObject({
      slug: "web",
      enableMemory: true,
      toolPolicy: persona.toolPolicy,
      files: persona.files,
    });
    const again = await run(["export", "web", "--to", to]);
    expect(again.code).toBe(7);
    expect(again.err).toContain("folder_not_empty");
  });

  it.each([
    { files: [{ filename: "../evil.md", content: "x", sortOrder: 0 }] },
    { skills: [{ ...persona.skills[0], name: "../evil" }] },
    { skills: [{ ...persona.skills[0], files: [{ path: "../../evil", content: "x" }] }] },
  ])("writes nothing where a server would have it go elsewhere: %j", async (fields) => {
    answers("GET", `${BASE}/web/versions/3`, { version: { ...version, ...fields } });
    const { code, err } = await run(["export", "web", "--to", join(folder, "out")]);
    expect(code).toBe(4);
    expect(err).toContain("export_invalid");
    expect(() => read("evil.md")).toThrow();
    expect(() => read("out/persona.json")).toThrow();
  });

  it("sets and unsets the default", async () => {
    expect((await run(["default", "web"])).out).toBe("web is now the default.\n");
    expect((await run(["default", "web", "--off"])).out).toBe("web is no longer the default.\n");
    server.refuse("PUT", `${BASE}/web/default`, 409, "persona_not_shared");
    expect((await run(["default", "web"])).code).toBe(7);
  });

  it("deletes after asking, and says what became of it", async () => {
    expect((await run(["rm", "web"], { typed: "\n" })).code).toBe(1);
    expect(server.requests("DELETE", `${BASE}/web`)).toEqual([]);
    expect((await run(["rm", "web"], { typed: "y\n" })).out).toBe("web is deleted.\n");
    const archived = { ...persona, archivedAt: persona.updatedAt };
    answers("DELETE", `${BASE}/web`, { persona: archived });
    expect((await run(["rm", "web", "--yes"])).out).toContain("is archived");
  });
});

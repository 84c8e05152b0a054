import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createFakeHost, type FakeHostOptions, runCommand } from "#test/cli/fake-host.ts";
import { FakeServer, reply } from "#test/cli/fake-server.ts";

const BASE = "/api/orgs/org_1/personas/web";
const SKILLS = `${BASE}/skills`;
const source = {
  url: "https://example.org/acme/skills",
  ref: null,
  path: "pdf",
  commit: "c0ffee".repeat(6),
};
const head = { name: "pdf", description: "Reads\u001b[2J PDF", sha256: "ab".repeat(32), source };
const persona = { slug: "web", version: 4 };
const main = (name: string) => `---\nname: ${name}\ndescription: d\n---\n`;

let server: FakeServer;
let folder: string;
beforeEach(async () => {
  server = await new FakeServer().start();
  folder = mkdtempSync(join(tmpdir(), "skills-"));
  answers("GET", "/api/me", { org: { id: "org_1" } });
  answers("GET", SKILLS, { items: [{ ...head, files: [] }], next: null });
  answers("PUT", `${SKILLS}/pdf`, { persona });
  answers("PUT", `${SKILLS}/mail`, { persona });
  answers("DELETE", `${SKILLS}/pdf`, { persona });
  answers("POST", `${SKILLS}/import`, { persona, skills: [{ ...head, change: "changed" }] });
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
  const code = await runCommand(host, "personas", "skills", ...words);
  return { code, out: host.out, err: host.err };
}
function write(path: string, content: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), content);
}
const sent = (method: string, path: string) =>
  server.requests(method, path).map(({ body }) => body);

describe("muster personas skills", () => {
  it("lists them with their hash and where they came from", async () => {
    const { code, out } = await run(["list", "web"]);
    expect(code).toBe(0);
    expect(out).toMatch(
      /pdf +abababababab +https:\/\/example.org\/acme\/skills c0ffeec0ffee +Reads/,
    );
    expect(out).not.toContain("\u001b");
    expect(JSON.parse((await run(["ls", "web", "--json"])).out).items[0]).toMatchObject(head);
    answers("GET", SKILLS, { items: [], next: null });
    expect((await run(["list", "web"])).out).toContain("muster personas skills add web");
  });

  it("sends the files of a folder, under the name that its SKILL.md has", async () => {
    write("SKILL.md", main("pdf"));
    write("scripts/run.sh", "echo");
    write(".hidden", "not sent");
    const { code, out } = await run(["add", "web", folder]);
    expect({ code, out }).toEqual({ code: 0, out: "web has the skill pdf (version 4).\n" });
    expect(sent("PUT", `${SKILLS}/pdf`)).toEqual([
      {
        files: [
          { path: "SKILL.md", content: main("pdf") },
          { path: "scripts/run.sh", content: "echo" },
        ],
      },
    ]);
    expect(JSON.parse((await run(["add", "web", folder, "--json"])).out)).toEqual({ persona });
  });

  it("sends all skills of a folder that has folders with them", async () => {
    write("a/SKILL.md", main("pdf"));
    write("b/SKILL.md", main("mail"));
    write("c/README.md", "none");
    expect((await run(["add", "web", folder])).code).toBe(0);
    expect(sent("PUT", `${SKILLS}/pdf`)).toHaveLength(1);
    expect(sent("PUT", `${SKILLS}/mail`)).toHaveLength(1);
  });

  it("sends nothing when the folder is not what it should be", async () => {
    expect((await run(["add", "web", join(folder, "none")])).err).toContain("does not exist");
    write("README.md", "none");
    expect((await run(["add", "web", folder])).err).toContain("has no SKILL.md");
    write("SKILL.md", main("pdf"));
    symlinkSync("/etc/passwd", join(folder, "link"));
    const linked = await run(["add", "web", folder]);
    expect(linked.err).toContain("links are not followed");
    expect(linked.code).not.toBe(0);
    expect(sent("PUT", `${SKILLS}/pdf`)).toEqual([]);
  });

  it("has the server import from git, and says what is different", async () => {
    const { code, out } = await run(["import", "web", source.url, "--ref", "v2", "--path", "pdf"]);
    expect(code).toBe(0);
    expect(out).toBe("changed: pdf (abababababab, commit c0ffeec0ffee)\nweb is at version 4.\n");
    expect(sent("POST", `${SKILLS}/import`)).toEqual([{ url: source.url, ref: "v2", path: "pdf" }]);
    answers("POST", `${SKILLS}/import`, { persona, skills: [{ ...head, change: "unchanged" }] });
    expect((await run(["import", "web", source.url])).out).toContain("web already has them.");
    const result = JSON.parse((await run(["import", "web", source.url, "--json"])).out);
    expect(result.skills[0].change).toBe("unchanged");
    server.refuse("POST", `${SKILLS}/import`, 403, "address_refused");
    const refused = await run(["import", "web", "https://10.0.0.1/x"]);
    expect(refused.code).not.toBe(0);
    expect(refused.err).toContain("address_refused");
  });

  it("removes one, after asking a person", async () => {
    expect((await run(["remove", "web", "pdf", "--yes"])).out).toBe(
      "web no longer has pdf (version 4).\n",
    );
    expect(server.requests("DELETE", `${SKILLS}/pdf`)).toHaveLength(1);
  });
});

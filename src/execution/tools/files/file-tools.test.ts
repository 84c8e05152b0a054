import { mkdirSync, readFileSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createCaller, type FakeWorkspace, openFakeWorkspace } from "../fake-workspace.ts";
import { createRunnerTools } from "../runner-tools.ts";
import type { ToolOutcome } from "../tool.ts";

const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

let workspace: FakeWorkspace;
const tools = createRunnerTools();
let call: (name: string, input: unknown) => Promise<ToolOutcome>;
const put = (name: string, content: string | Buffer) =>
  writeFileSync(join(workspace.folder, name), content);
const get = (name: string) => readFileSync(join(workspace.folder, name), "utf8");

beforeAll(async () => {
  workspace = await openFakeWorkspace();
  call = createCaller(tools, workspace);
});
afterAll(async () => {
  await workspace[Symbol.asyncDispose]();
});

describe("read", () => {
  const read = (path: string, more = {}) => call("read", { path, ...more });

  it("gives lines with their numbers, whatever ends them", async () => {
    put("lines", "one\r\ntwo\n\nfour");
    expect(await read("lines")).toEqual({
      output: "     1\tone\n     2\ttwo\n     3\t\n     4\tfour",
      error: null,
    });
  });

  it("gives a range, says how to go on, and what is beyond the end", async () => {
    put("many", Array.from({ length: 3000 }, (_, i) => `line ${i + 1}\n`).join(""));
    expect((await read("many", { offset: 2, limit: 2 })).output).toBe(
      "     2\tline 2\n     3\tline 3\n[… there are more lines: continue with offset 4 …]",
    );
    expect((await read("many")).output).toMatch(/\n {2}2000\tline 2000\n\[… .* offset 2001 …\]$/);
    expect((await read("many", { offset: 2999 })).output).toBe(
      "  2999\tline 2999\n  3000\tline 3000",
    );
    expect((await read("many", { offset: 3001 })).error).toBe(
      "many has only 3000 lines, none from 3001 on.",
    );
  });

  it("cuts long lines between characters, and the whole to a bearable size", async () => {
    put("long", `${"€".repeat(5000)}\nshort\n`);
    const { output } = await read("long");
    expect(output).toBe(
      `     1\t${"€".repeat(2000)} [… cut: the line has 15000 bytes]\n     2\tshort`,
    );
    put("wide", `${"x".repeat(1999)}\n`.repeat(2000));
    const wide = await read("wide");
    expect(wide.output.length).toBeLessThan(110_000);
    expect(wide.output).toMatch(/continue with offset 52 …\]$/);
  });

  it("finds a line behind gigabytes of nothing, or gives up, in little memory", async () => {
    put("huge", "first\n");
    truncateSync(join(workspace.folder, "huge"), 5e12);
    const { error } = await read("huge", { offset: 2 });
    expect(error).toMatch(/not text|too far/);
    put("tall", `${"a\n".repeat(10)}`);
    const start = Buffer.alloc(9000, "a\n");
    put("tall", start);
    truncateSync(join(workspace.folder, "tall"), 5e12);
    expect((await read("tall", { offset: 4502 })).error).toMatch(/too far into tall/);
  }, 30_000);

  it("says that a file is empty, a folder or not there", async () => {
    put("empty", "");
    mkdirSync(join(workspace.folder, "folder"));
    expect((await read("empty")).output).toBe("empty is empty.");
    expect((await read("folder")).error).toMatch(
      /folder is a folder\. List it with glob, such as folder\/\*/,
    );
    expect((await read("emty")).error).toBe("emty does not exist. Did you mean empty?");
  });

  it("shows images, told by their content", async () => {
    put("picture.txt", PNG);
    const { output, images } = await read("picture.txt");
    expect(output).toBe(`picture.txt: image/png, ${PNG.length} bytes.`);
    expect(images).toEqual([{ mediaType: "image/png", data: PNG.toString("base64") }]);
    put("large.png", Buffer.concat([PNG, Buffer.alloc(5 * 1024 ** 2)]));
    expect((await read("large.png")).error).toMatch(/the limit is 5242880/);
  });

  it("refuses what is not text, with type and size", async () => {
    put("doc.txt", "%PDF-1.7 …");
    put("fake.png", Buffer.from([1, 2, 0, 3]));
    put("wide.txt", Buffer.from("\ufeffhello", "utf16le"));
    expect((await read("doc.txt")).error).toMatch(/a PDF document \(12 bytes\)/);
    expect((await read("fake.png")).error).toMatch(/unknown binary data \(4 bytes\)/);
    expect((await read("wide.txt")).error).toMatch(/UTF-16 text; convert it/);
  });

  it("reads nothing outside", async () => {
    writeFileSync(join(workspace.machineFolder, "secret"), "secret");
    symlinkSync("../secret", join(workspace.folder, "leak"));
    symlinkSync("/proc/self/environ", join(workspace.folder, "environ"));
    for (const path of ["leak", "environ", "/etc/passwd", "../secret"]) {
      expect((await read(path)).error).toMatch(/outside the workspace/);
    }
    await call("bash", { command: "mkfifo pipe" });
    expect((await read("pipe")).error).toMatch(/is a pipe/);
  });
});

describe("write", () => {
  it("makes and replaces files, with folders on the way", async () => {
    const path = "new/deep/file.txt";
    expect((await call("write", { path, content: "ä" })).output).toBe(`Created ${path}, 2 bytes.`);
    expect((await call("write", { path, content: "" })).output).toBe(`Replaced ${path}, 0 bytes.`);
    expect(get(path)).toBe("");
    const inside = await call("bash", { command: `echo more >> ${path} && cat ${path}` });
    expect(inside.output).toBe("more\n");
  });

  it("refuses folders and the outside", async () => {
    expect((await call("write", { path: "new", content: "" })).error).toMatch(/is a folder/);
    expect((await call("write", { path: "/etc/x", content: "" })).error).toMatch(/outside/);
    expect((await call("write", { path: "new/deep/file.txt/x", content: "" })).error).toMatch(
      /is not a folder/,
    );
  });
});

describe("edit", () => {
  const edit = (path: string, ...edits: object[]) => call("edit", { path, edits });

  it("makes several edits, one upon the other", async () => {
    put("e", "one two two $&\n");
    const outcome = await edit(
      "e",
      { oldText: "one", newText: "$& zero $1" },
      { oldText: "zero", newText: "0" },
      { oldText: "two", newText: "2", all: true },
    );
    expect(outcome).toEqual({ output: "Edited e in 4 places.", error: null });
    expect(get("e")).toBe("$& 0 $1 2 2 $&\n");
  });

  it("makes none when one does not fit, and says which and why", async () => {
    put("e", "one\n  two\ntwo\n");
    const one = { oldText: "one", newText: "1" };
    expect((await edit("e", one, { oldText: "two", newText: "2" })).error).toMatch(
      /^Edit 2 of 2 matches 2 places in e; nothing was changed/,
    );
    expect((await edit("e", one, { oldText: "one", newText: "2" })).error).toMatch(
      /^Edit 2 of 2 has no match.*Read the file again/,
    );
    expect((await edit("e", { oldText: "\ttwo", newText: "2" })).error).toMatch(
      /^The edit has no match.*Line 2 looks like its beginning/,
    );
    expect((await edit("e", { oldText: "one", newText: "one" })).error).toMatch(/changes nothing/);
    expect(get("e")).toBe("one\n  two\ntwo\n");
  });

  it("keeps line ends and the byte order mark", async () => {
    put("crlf", "\ufeffa\r\nb\r\nc\r\n");
    await edit(
      "crlf",
      { oldText: "a\nb", newText: "a\nnew\r\nb" },
      { oldText: "c", newText: "c\nd" },
    );
    expect(get("crlf")).toBe("\ufeffa\r\nnew\r\nb\r\nc\r\nd\r\n");
    put("mixed", "a\r\nb\nc");
    await edit("mixed", { oldText: "b\nc", newText: "b\nd" });
    expect(get("mixed")).toBe("a\r\nb\nd");
  });

  it("refuses what is not text, too large or would become so", async () => {
    put("latin", Buffer.from([0xe4, 0x61]));
    expect((await edit("latin", { oldText: "a", newText: "b" })).error).toMatch(/not UTF-8/);
    put("big", Buffer.alloc(10 * 1024 ** 2 + 1, "a"));
    expect((await edit("big", { oldText: "a", newText: "b" })).error).toMatch(/can be edited/);
    put("grow", "a".repeat(100_000));
    const grow = { oldText: "a", newText: "b".repeat(1_000_000), all: true };
    expect((await edit("grow", grow)).error).toMatch(/too much/);
    expect((await edit("folder", { oldText: "a", newText: "b" })).error).toMatch(/is a folder/);
  });
});

it("todo shows the list as boxes", async () => {
  const items = [
    { text: "plan", state: "done" },
    { text: "build", state: "in_progress" },
    { text: "test", state: "pending" },
  ];
  expect((await call("todo", { items })).output).toBe("- [x] plan\n- [~] build\n- [ ] test");
  expect((await call("todo", { items: [] })).output).toBe("Nothing to do.");
});

it("has every tool of the protocol but the one that waits for a person", async () => {
  const { workspaceTools } = await import("#protocol/tools.ts");
  const missing = workspaceTools.filter(({ name }) => !tools.get(name)).map(({ name }) => name);
  expect(missing).toEqual(["ask_user_question"]);
});

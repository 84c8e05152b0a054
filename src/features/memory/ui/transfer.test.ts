import { expect, test } from "vitest";
import type { MemoryFile } from "#features/memory/contract.ts";
import { importFiles, readFiles } from "./transfer.ts";
import { writeZip } from "./zip.ts";

const file = (name: string, content: BlobPart) => new File([content], name);

test("takes markdown files and archives of them, and leaves out what else is in these", async () => {
  const zip = writeZip([
    { path: "general/a.md", content: "A" },
    { path: "__MACOSX/general/._a.md", content: "junk" },
    { path: "general/.hidden.md", content: "junk" },
    { path: "README.txt", content: "no" },
  ]);
  expect(await readFiles([file("b.md", "B"), file("all.ZIP", zip)])).toEqual([
    { path: "b.md", content: "B" },
    { path: "general/a.md", content: "A" },
  ]);
  const binary = file("c.md", new Uint8Array([0x89, 0x50, 0xff]));
  expect(await readFiles([binary, file("d.png", "D")])).toEqual([
    { path: "c.md", reason: "Not UTF-8 text." },
    { path: "d.png", reason: "Not a Markdown file or a ZIP archive." },
  ]);
  await expect(readFiles([file("broken.zip", "no archive")])).rejects.toThrow("cannot be read");
});

test("sends as many as the server takes at once, adds up, and says what was too long", async () => {
  const files: MemoryFile[] = Array.from({ length: 450 }, (_, n) => ({
    path: `general/${n}.md`,
    content: n === 7 ? "x".repeat(20_000) : "x",
  }));
  const sent: number[] = [];
  const done = await importFiles(files, async (part) => {
    sent.push(part.length);
    const refused = [{ path: part[0]?.path ?? "", reason: "no" }];
    return { created: part.length - 2, replaced: 1, unchanged: 0, pruned: 0, refused };
  });
  expect(sent).toEqual([200, 200, 49]);
  expect(done).toMatchObject({ created: 443, replaced: 3, unchanged: 0, pruned: 0 });
  expect(done.refused.map(({ path }) => path)).toEqual([
    "general/7.md",
    "general/0.md",
    "general/201.md",
    "general/401.md",
  ]);
});

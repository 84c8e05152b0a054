import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";

const ROOT = join(import.meta.dirname, "../..");
const FOLDERS = [".github", "docs", "examples", "scripts", "src", "test"];
const documents = [
  ...readdirSync(ROOT),
  ...FOLDERS.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" }).map((name) =>
      join(folder, name),
    ),
  ),
].filter((name) => name.endsWith(".md"));

const read = (name: string) => readFileSync(join(ROOT, name), "utf8");
const withoutCode = (text: string) =>
  text.replaceAll(/^```[\s\S]*?^```$/gm, "").replaceAll(/`[^`\n]*`/g, "");

/** Anchors of headings, as hosted Git services derive them. */
function anchors(text: string): string[] {
  const headings = text.replaceAll(/^```[\s\S]*?^```$/gm, "").matchAll(/^#+ (.+)$/gm);
  return [...headings].map(([, title = ""]) =>
    title
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_ -]/gu, "")
      .replaceAll(" ", "-"),
  );
}

function brokenLinks(document: string): string[] {
  const links = [...withoutCode(read(document)).matchAll(/\]\(([^)\s]+)\)/g)];
  return links
    .map(([, target = ""]) => target)
    .filter((target) => !/^[a-z]+:/.test(target))
    .filter((target) => {
      const [path = "", anchor] = target.split("#");
      const file = path === "" ? document : join(dirname(document), path);
      if (!existsSync(join(ROOT, file))) return true;
      return anchor !== undefined && !anchors(read(file)).includes(anchor);
    });
}

it.each(documents)("%s links to files and headings that exist", (document) => {
  expect(brokenLinks(document)).toEqual([]);
});

it("lists every decision record in the index, by number and title", () => {
  const folder = "docs/decisions";
  const index = [...read(`${folder}/README.md`).matchAll(/^\| \[(.+)\]\((.+)\) \| .+ \|$/gm)];
  const records = readdirSync(join(ROOT, folder)).filter((name) => name !== "README.md");
  expect(index.map(([, title, file]) => ({ title, file }))).toEqual(
    records.sort().map((file) => ({
      title: read(`${folder}/${file}`).split("\n")[0]?.replace("# ", ""),
      file,
    })),
  );
});

// Records and the change log tell of the past, so files that they name may be gone.
const present = documents.filter((name) => !/^(docs\/decisions\/|CHANGELOG)/.test(name));
const sources = ["examples", "scripts", "src", "test"].flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" }).map(
    (name) => `/${folder}/${name}`,
  ),
);

it.each(present)("%s names source files that exist, by the end of their path", (document) => {
  const named = [...read(document).matchAll(/`([\w./-]+\.(?:tsx?|mjs))`/g)].map(([, name]) => name);
  expect(named.filter((name) => !sources.some((file) => file.endsWith(`/${name}`)))).toEqual([]);
});

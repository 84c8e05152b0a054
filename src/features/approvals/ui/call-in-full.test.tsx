import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { CallInFull } from "./call-in-full.tsx";

/** Returns the rendered text, with hidden parts named in brackets. */
function drawn(tool: string, input: unknown): string {
  const box = document.createElement("div");
  box.innerHTML = renderToStaticMarkup(<CallInFull tool={tool} input={input} />);
  for (const mark of box.querySelectorAll("mark")) mark.replaceWith(`[${mark.textContent}]`);
  return box.textContent ?? "";
}

const CALLS: [string, unknown, string[]][] = [
  [
    "bash",
    { command: "echo **a**\n<b>x</b>", timeoutMs: 7, background: true },
    ["echo **a**\n<b>x</b>", "timeoutMs: 7", "background: true"],
  ],
  ["bash", { command: "ls", content: "odd" }, ["ls", 'content: "odd"']],
  ["write", { path: "a/b", content: "1\r\n2\u200b" }, ["a/b", "1[CR]\n2[U+200B]"]],
  [
    "edit",
    { path: "a", edits: [{ oldText: "x", newText: "y", all: true }] },
    ["a", "x", "y", '"all": true'],
  ],
  ["edit", { path: "a", edits: [{ oldText: "x" }] }, ['"oldText": "x"']],
  [
    "web_fetch",
    { url: "https://good.example@evil.example/x" },
    ["at evil.example", "https://good.example@evil.example/x"],
  ],
  ["new_tool", { deep: { er: "down" } }, ['"er": "down"']],
  ["new_tool", "just text", ["just text"]],
  ["bash", { commands: "no command" }, ['"commands": "no command"']],
];

test.each(CALLS)("every part of a call of %s is in sight: %j", (tool, input, parts) => {
  const text = drawn(tool, input);
  for (const part of parts) expect(text).toContain(part);
});

test("shows where a command would run", () => {
  const call = renderToStaticMarkup(
    <CallInFull tool="bash" input={{ command: "rm -rf *" }} cwd="/srv/other" />,
  );
  expect(call).toContain("Folder");
  expect(call).toContain("/srv/other");
});

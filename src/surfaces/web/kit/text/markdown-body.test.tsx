import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { MarkdownBody } from "./markdown-body.tsx";

function drawn(text: string): HTMLElement {
  const box = document.createElement("div");
  box.innerHTML = renderToStaticMarkup(<MarkdownBody text={text} />);
  return box;
}

test("draws tables, deletions and lists of tasks", () => {
  const box = drawn("| a | b |\n|---|--:|\n| 1 | ~~2~~ |\n\n- [x] done\n- [ ] open\n");
  expect([...box.querySelectorAll("th, td")].map((cell) => cell.textContent)).toEqual([
    ...["a", "b"],
    ...["1", "2"],
  ]);
  expect(box.querySelector("td del")?.textContent).toBe("2");
  const boxes = [...box.querySelectorAll<HTMLInputElement>("input[type=checkbox]")];
  expect(boxes.map(({ checked, disabled }) => [checked, disabled])).toEqual([
    [true, true],
    [false, true],
  ]);
});

test("takes a tilde before a number for what it is", () => {
  expect(drawn("~5 to ~10 minutes").querySelector("del")).toBeNull();
});

test.each([
  "[x](javascript:alert(1))",
  "<javascript:alert(1)>",
  "![x](javascript:alert(1))",
  "[x](data:text/html,<script>1</script>)",
  "[x](vbscript:y)",
  '<img src=x onerror="alert(1)"><script>1</script>',
  "| a |\n|---|\n| <iframe src=x> |",
])("leads nowhere and runs nothing: %s", (text) => {
  const box = drawn(text);
  expect(box.querySelector("img, script, iframe")).toBeNull();
  for (const link of box.querySelectorAll("a"))
    expect(link.getAttribute("href") ?? "").not.toMatch(/script|data/);
});

test.each([
  "https://evil.example/p.png",
  "//evil.example/p.png",
  "/\\evil.example/p.png",
  "/api/me",
])("fetches no picture by itself: %s", (address) => {
  const box = drawn(`![a picture](${address})`);
  expect(box.querySelector("img")).toBeNull();
  expect(box.textContent).toBe("a picture");
});

test.each([
  "[x](/sign-in#token=mst_link_x)",
  "[x](sign-in#token=mst_link_x)",
  "![x](/join#token=mst_inv_x)",
  "[x]: /sign-in#token=y\n\n[x]",
  "<http://localhost:3000/sign-in#token=y>",
  "https://muster.example/sign-in#token=y",
  "[x](/sign%2Din)",
  "[x](&#47;sign-in)",
  "[x](/api/auth/links)",
])("makes nothing of ours clickable that acts: %s", (text) => {
  expect(drawn(text).querySelector("a")).toBeNull();
});

test("opens links apart, says nothing of where one was, and shows where they lead", () => {
  const link = drawn("[https://good.example](https://evil.example/a) and www.example.com");
  const [named, bare] = link.querySelectorAll("a");
  expect(named?.rel).toBe("noreferrer noopener");
  expect(named?.target).toBe("_blank");
  expect(named?.title).toBe("https://evil.example/a");
  expect(bare?.getAttribute("href")).toBe("http://www.example.com/");
});

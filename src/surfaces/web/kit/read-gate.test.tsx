/** Tests of the read gate: each part reports when its start and end were visible; the card waits for all. */
import { act } from "react";
import { createRoot, type Root } from "react-dom/client";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ReadScope, useReadGate } from "./read-gate.tsx";
import { Verbatim } from "./text/verbatim.tsx";

type Watcher = { callback: IntersectionObserverCallback; targets: Set<Element> };
const watchers = new Set<Watcher>();

class FakeObserver {
  readonly #watcher: Watcher;
  constructor(callback: IntersectionObserverCallback) {
    this.#watcher = { callback, targets: new Set() };
    watchers.add(this.#watcher);
  }
  observe(target: Element): void {
    this.#watcher.targets.add(target);
  }
  disconnect(): void {
    watchers.delete(this.#watcher);
  }
}

let root: Root;
let box: HTMLElement;
beforeEach(() => {
  vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", true);
  vi.stubGlobal("IntersectionObserver", FakeObserver);
  box = document.createElement("div");
  document.body.append(box);
  root = createRoot(box);
});
afterEach(() => {
  act(() => root.unmount());
  box.remove();
  watchers.clear();
  vi.unstubAllGlobals();
});

function Card({ id, texts }: { id: string; texts: string[] }) {
  const gate = useReadGate(id);
  return (
    <ReadScope gate={gate}>
      {texts.map((text) => (
        <Verbatim key={text.slice(0, 9)} label={text.slice(0, 9)} text={text} />
      ))}
      <button type="button" onClick={gate.readOn}>
        Read on
      </button>
      <output>{gate.isRead ? "read" : "unread"}</output>
    </ReadScope>
  );
}

const show = (id: string, texts: string[]) =>
  act(() => root.render(<Card id={id} texts={texts} />));
const state = () => box.querySelector("output")?.textContent;

/** Makes the first or the last mark of a part visible. */
function see(label: string, which: "start" | "end"): void {
  const marks = [...box.querySelectorAll(`section[aria-label="${label}"] > span[aria-hidden]`)];
  const target = which === "start" ? marks[0] : marks.at(-1);
  const entry = { target, intersectionRatio: 1 } as unknown as IntersectionObserverEntry;
  act(() => {
    for (const { callback, targets } of [...watchers])
      if (target && targets.has(target)) callback([entry], {} as IntersectionObserver);
  });
}

test("a card is read when every part was seen from its beginning to its end", () => {
  show("a", ["one", "two"]);
  expect(state()).toBe("unread");
  see("one", "start");
  see("one", "end");
  see("two", "end");
  expect(state()).toBe("unread");
  expect(box.textContent).toContain("more below");
  see("two", "start");
  expect(state()).toBe("read");
  expect(box.textContent).not.toContain("more below");
});

test("reading on goes back to the beginning when the end was seen first", () => {
  show("d", ["one"]);
  see("one", "end");
  const region = box.querySelector("section") as HTMLElement;
  const tops: (number | undefined)[] = [];
  region.scrollTo = ((options?: ScrollToOptions) =>
    void tops.push(options?.top)) as typeof region.scrollTo;
  act(() => box.querySelector<HTMLElement>("button:last-of-type")?.click());
  expect(tops).toEqual([0]);
  see("one", "start");
  expect(state()).toBe("read");
});

test("is remembered when the card is shown again, and starts over when the text has changed", () => {
  show("b", ["one"]);
  see("one", "start");
  see("one", "end");
  act(() => root.render(null));
  show("b", ["one"]);
  expect(state()).toBe("read");
  show("b", ["one", "other"]);
  expect(state()).toBe("unread");
});

test("a text that is not drawn to its end cannot be seen to its end", () => {
  const long = "x".repeat(450_000);
  show("c", [long]);
  see("xxxxxxxxx", "start");
  see("xxxxxxxxx", "end");
  expect(state()).toBe("unread");
  for (const left of ["250,000", "50,000"]) {
    expect(box.textContent).toContain(`${left} more characters hidden`);
    act(() => box.querySelector("button")?.click());
  }
  see("xxxxxxxxx", "start");
  see("xxxxxxxxx", "end");
  expect(state()).toBe("read");
});

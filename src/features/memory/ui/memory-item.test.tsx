import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import type { Memory } from "#features/memory/contract.ts";
import { ToastProvider } from "#surfaces/web/kit/toast.tsx";
import { MemoryItem } from "./memory-item.tsx";

const NOW = Date.parse("2030-06-10T12:00:00Z");
const MEMORY: Memory = {
  id: "mem_1",
  kind: "orchestrator",
  repo: null,
  category: "preference",
  title: null,
  content: "Short answers",
  relevance: 1.5,
  pinned: false,
  accessCount: 4,
  createdAt: "2030-06-01T12:00:00Z",
  updatedAt: "2030-06-08T12:00:00Z",
  lastAccessedAt: "2030-06-10T11:00:00Z",
  source: null,
};

function drawn(memory: Partial<Memory>): HTMLElement {
  const box = document.createElement("div");
  box.innerHTML = renderToStaticMarkup(
    <QueryClientProvider client={new QueryClient()}>
      <ToastProvider>
        <MemoryItem memory={{ ...MEMORY, ...memory }} now={NOW} onEdit={() => {}} />
      </ToastProvider>
    </QueryClientProvider>,
  );
  return box;
}

test("says in plain words where it is from and how much it counts", () => {
  expect(drawn({}).textContent).toContain(
    "Preferencewritten by you 2 d ago · used often · used 4 times, last 1 h ago",
  );
  const kept = drawn({ kind: "session", repo: "github.com/acme/api", pinned: true });
  expect(kept.textContent).toContain("acme/api · written by you 2 d ago · kept permanently");
});

test("what an agent wrote is text and nothing else, and long texts are shown when asked for", () => {
  const nasty = drawn({ title: "<b>t</b>", content: "<img src=x> **no** [a](http://x.example)" });
  expect(nasty.textContent).toContain("<img src=x> **no** [a](http://x.example)");
  expect(nasty.querySelector("img, b, a")).toBeNull();
  const long = drawn({ content: `${"x".repeat(1_000)}END` });
  expect(long.textContent).not.toContain("END");
  expect(long.textContent).toContain("Show all");
});

test("its buttons are called after it", () => {
  const labels = (memory: Partial<Memory>) =>
    [...drawn(memory).querySelectorAll("button")].map((one) => one.getAttribute("aria-label"));
  expect(labels({})).toEqual(["Pin Short answers", "Edit Short answers", "Delete Short answers"]);
  expect(labels({ title: "Style", pinned: true })[0]).toBe("Unpin Style");
});

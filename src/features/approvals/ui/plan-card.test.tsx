/** Tests of the plan card: a person approves a plan, sends it back with a comment, or rejects it. */
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act } from "react";
import { createRoot, type Root } from "react-dom/client";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { sampleApproval } from "#features/sessions/ui/transcript/samples.ts";
import { GateRow } from "./gate-row.tsx";

const PLAN = "# Plan\n\n1. **Add** <b>a.ts</b>\n2. Run\u200b it";
const plan = sampleApproval({
  kind: "plan",
  tool: "request_plan_approval",
  target: "adds a file",
  shown: { tool: "request_plan_approval", input: { plan: PLAN, summary: "adds a file" } },
});

let root: Root;
let box: HTMLElement;
const sent: { url: string; body: unknown }[] = [];

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", true);
  vi.stubGlobal("fetch", async (url: string, init: RequestInit) => {
    sent.push({ url, body: JSON.parse(String(init.body)) });
    return new Response(JSON.stringify({}), { status: 200 });
  });
  sent.length = 0;
  box = document.createElement("div");
  document.body.append(box);
  root = createRoot(box);
});
afterEach(() => {
  act(() => root.unmount());
  box.remove();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

function show(approval = plan): void {
  const client = new QueryClient({ defaultOptions: { queries: { queryFn: async () => null } } });
  act(() =>
    root.render(
      <QueryClientProvider client={client}>
        <GateRow approval={approval} />
      </QueryClientProvider>,
    ),
  );
  // Buttons are disabled for a moment at first.
  act(() => vi.advanceTimersByTime(1_000));
}

function button(name: string): HTMLButtonElement {
  const found = [...box.querySelectorAll("button")].find(({ textContent }) => textContent === name);
  if (!found) throw new Error(`no button ${name} in: ${box.textContent}`);
  return found;
}

const press = (name: string) =>
  act(async () => {
    button(name).click();
    await vi.advanceTimersByTimeAsync(10);
  });

function write(words: string): void {
  const field = box.querySelector("textarea");
  if (!field) throw new Error("nowhere to write");
  const set = Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, "value")?.set;
  act(() => {
    set?.call(field, words);
    field.dispatchEvent(new Event("input", { bubbles: true }));
  });
}

test("shows all of it as it is written, and what it comes to", () => {
  show();
  expect(box.querySelector("h2")?.textContent).toBe("Approve this plan?");
  expect(box.textContent).toContain("adds a file");
  expect(box.textContent).toContain("1. **Add** <b>a.ts</b>");
  expect(box.querySelector("mark")?.textContent).toBe("U+200B");
  expect(box.querySelector("b")).toBeNull();
});

test("approves with one press", async () => {
  show();
  await press("Approve");
  expect(sent).toEqual([{ url: "/api/approvals/apr_1", body: { decision: "allow" } }]);
});

test("sends it back with words, and never without", async () => {
  show();
  await press("Request changes…");
  expect(button("Request changes").disabled).toBe(true);
  write("  Not in src. ");
  await press("Request changes");
  expect(sent.map(({ body }) => body)).toEqual([{ decision: "revise", reason: "Not in src." }]);
});

test("rejects it, with a reason if there is one", async () => {
  show();
  await press("Reject…");
  await press("Back");
  await press("Reject…");
  await press("Reject");
  expect(sent.map(({ body }) => body)).toEqual([{ decision: "deny" }]);
});

const decided = { ...plan, state: "decided", decidedBy: "session:ses_9" } as const;
test.each([
  ["allow", "Mind the lint.", "The parent session approved the plan: Mind the lint."],
  ["revise", "Smaller.", "The parent session requested changes to the plan: Smaller."],
  ["deny", null, "The parent session rejected the plan"],
] as const)("says afterwards what was decided: %s", (decision, reason, words) => {
  show({ ...decided, decision, reason });
  expect(box.textContent).toBe(words);
});

/** Tests of the receipt line: a session's children are requested only once the session is known. */
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act } from "react";
import { createRoot, type Root } from "react-dom/client";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { samplePrompt } from "../transcript/samples.ts";
import { ReceiptLine } from "./receipt-line.tsx";

let root: Root;
const asked: string[] = [];

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", true);
  vi.stubGlobal("fetch", async (url: string) => {
    asked.push(url);
    const isPrompt = url.includes("/prompts/");
    const prompt = samplePrompt({
      state: "settled",
      outcome: "completed",
      endedWaitingFor: "children",
    });
    const body = isPrompt ? { prompt } : { items: [], more: 0 };
    return new Response(JSON.stringify(body), { status: 200 });
  });
  asked.length = 0;
  root = createRoot(document.createElement("div"));
});
afterEach(() => {
  act(() => root.unmount());
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test("a delegated prompt loads the children of its own session only", async () => {
  const client = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  act(() =>
    root.render(
      <QueryClientProvider client={client}>
        <ReceiptLine promptId="pmt_1" isFollowed={false} />
      </QueryClientProvider>,
    ),
  );
  // Three steps: the row settles, the prompt arrives, the children arrive.
  for (let step = 0; step < 3; step++) await act(() => vi.advanceTimersByTimeAsync(1_000));
  expect(asked).toEqual(["/api/prompts/pmt_1", "/api/sessions/ses_1/children"]);
});

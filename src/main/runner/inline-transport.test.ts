import { expect, it } from "vitest";
import { silentLog } from "#base/log.ts";
import type { Dispatcher } from "#engine/runs/index.ts";
import type { RunnerFrame } from "#protocol/frames.ts";
import { createInlineTransport } from "./inline-transport.ts";

it("hands frames over with keys and text that every database stores", async () => {
  const received: unknown[] = [];
  const connection = { receive: async (frame: unknown) => void received.push(frame) };
  const dispatcher = { connect: () => connection } as unknown as Dispatcher;
  const principal = {
    kind: "runner",
    orgId: "org_1",
    credentialId: "crd_1",
    scope: "org",
    tags: [],
    name: "r",
  } as const;
  const transport = createInlineTransport(dispatcher, principal, silentLog);
  const wire = await transport.open({ frame: () => {}, closed: () => {} });
  const frame = { op: "journal", items: [{ input: { "a\u0000": "b\u0000" } }] };
  wire.send(frame as unknown as RunnerFrame);
  const clean = { op: "journal", items: [{ input: { "a\ufffd": "b\ufffd" } }] };
  expect(received).toEqual([clean]);
});

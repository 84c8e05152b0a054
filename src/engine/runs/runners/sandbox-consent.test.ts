import { expect, it } from "vitest";
import type { RunnerRow } from "#engine/schema.ts";
import type { Engine } from "#engine/work.ts";
import type { ServerFrame } from "#protocol/frames.ts";
import { ConsentNotifier } from "./sandbox-consent.ts";

it("sends a runner the latest consent last, however long a read takes", async () => {
  const looks: ((unsandboxed: string | null) => void)[] = [];
  const read = () =>
    new Promise<Partial<RunnerRow>>((resolve) =>
      looks.push((unsandboxed) => resolve({ unsandboxed })),
    );
  const engine = { store: { read } } as unknown as Engine;
  const sent: ServerFrame[] = [];
  const line = new ConsentNotifier(engine, (frame) => void sent.push(frame));
  const told = [line.send("rnr_1"), line.send("rnr_1")];
  await Promise.resolve();
  // The second look, if there is one by now, is answered first: the consent was taken back.
  looks[1]?.(null);
  await new Promise((resolve) => setImmediate(resolve));
  looks[0]?.("{}");
  await told[0];
  await new Promise((resolve) => setImmediate(resolve));
  looks[1]?.(null);
  await Promise.all(told);
  expect(sent.at(-1)).toMatchObject({ op: "sandbox", unsandboxed: false });
});

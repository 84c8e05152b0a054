/** Turns begin in the order of the queue, one at a time, and end exactly once. */
import { describe, expect, it } from "vitest";
import { findRun, listLiveRuns } from "#engine/runs/queries.ts";
import { startTestKernel } from "#engine/testing/test-kernel.ts";
import { command } from "#engine/work.ts";
import { promotePrompt } from "../prompts/change-queue.ts";
import { findPrompt } from "../prompts/prompt-queries.ts";
import { pump, settlePrompt, settleRun } from "./turns.ts";

const DONE = { settle: { outcome: "completed" } } as const;

async function start() {
  const at = await startTestKernel();
  const id = await at.createSession();
  const runner = await at.connect("one");
  const contents = () => runner.assigned().map(({ content }) => content);
  const turn = async (content: string) => {
    await expect.poll(contents).toContain(content);
    const found = runner.assigned().find((one) => one.content === content);
    if (!found) throw new Error("nothing was assigned");
    return found;
  };
  return { ...at, id, runner, contents, turn };
}

describe("turns", () => {
  it("begin in the order of the queue, each when the one before has ended", async () => {
    const { id, send, runner, contents, turn } = await start();
    for (const content of ["one", "two", "three"]) await send(id, content);
    for (const content of ["one", "two", "three"]) {
      const begun = await turn(content);
      expect(contents().at(-1)).toBe(content);
      await runner.journal(begun, DONE);
    }
    expect(contents()).toEqual(["one", "two", "three"]);
  });

  it("begin with what was sent to the front", async () => {
    const { id, send, runner, contents, turn, kernel } = await start();
    await send(id, "one");
    const first = await turn("one");
    await send(id, "two");
    const { id: urgent } = await send(id, "urgent");
    await command(kernel.engine, async (work) => {
      const session = await work.session(id);
      const prompt = await findPrompt(work.tx, urgent);
      if (session && prompt) await promotePrompt(work, session, prompt);
    });
    await runner.journal(first, { settle: { outcome: "aborted" } });
    await turn("urgent");
    expect(contents()).toEqual(["one", "urgent"]);
  });

  it("do not begin beside one another, however often it is tried", async () => {
    const { id, send, turn, engine } = await start();
    await send(id, "one");
    await turn("one");
    await send(id, "two");
    const live = await command(engine, async (work) => {
      const session = await work.session(id);
      if (!session) throw new Error("the session is gone");
      await pump(work, session);
      await pump(work, session);
      return listLiveRuns(work.tx, id);
    });
    expect(live).toHaveLength(1);
  });

  it("end once: a second end of the run or of the prompt undoes its command", async () => {
    const { id, send, runner, turn, run, prompt, engine } = await start();
    const { id: promptId } = await send(id, "one");
    const begun = await turn("one");
    await runner.journal(begun, DONE);
    const again = (act: typeof settleRun) =>
      command(engine, async (work) => {
        const session = await work.session(id);
        const row = await findRun(work.tx, begun.run);
        const found = await findPrompt(work.tx, promptId);
        if (session && row && found) await act(work, session, found, row, { outcome: "failed" });
      });
    await expect(again(settleRun)).rejects.toThrow("is completed and cannot failed");
    await expect(
      again((work, session, found, _run, ending) =>
        settlePrompt(work, session, found, null, ending),
      ),
    ).rejects.toThrow("is settled and cannot failed");
    expect(await run(begun.run)).toMatchObject({ state: "completed", outcome: "completed" });
    expect(await prompt(promptId)).toMatchObject({ state: "settled", outcome: "completed" });
  });
});

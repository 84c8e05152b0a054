/** Admission: once for each dispatch and cause, in order, and into sessions that take prompts. */
import { describe, expect, it } from "vitest";
import type { PromptRow } from "#engine/schema.ts";
import { owner, startTestKernel } from "#engine/testing/test-kernel.ts";
import { command } from "#engine/work.ts";
import { admitPrompt } from "./admit-prompt.ts";
import { MAX_WAITING } from "./prompt-queue.ts";

async function start() {
  const at = await startTestKernel();
  const id = await at.createSession();
  const prompts = () => at.select<PromptRow>("select * from prompts order by position");
  const fromSystem = (causeKey: string, promptId: string) =>
    command(at.engine, async (work) => {
      const session = await work.session(id);
      if (!session) throw new Error("the session is gone");
      return admitPrompt(work, session, {
        id: promptId,
        runId: `run_${promptId}`,
        content: "news",
        thread: "main",
        mode: "followup",
        author: { kind: "system", id: "system", name: "system" },
        origin: { channelType: "wake", channelId: null, scopeKey: null, replyRef: null },
        createdBy: "system",
        dispatchId: null,
        causeKey,
        attachments: [],
        runOptions: null,
      });
    });
  return { ...at, id, prompts, fromSystem };
}

describe("admission", () => {
  it("finds a repeated dispatch, and refuses its id for another content", async () => {
    const { id, send, prompts } = await start();
    const first = await send(id, "hello", "followup", "d1");
    expect((await send(id, "hello", "followup", "d1")).id).toBe(first.id);
    await expect(send(id, "other", "followup", "d1")).rejects.toMatchObject({
      code: "dispatch_conflict",
    });
    expect(await prompts()).toHaveLength(1);
  });

  it("admits a cause once", async () => {
    const { fromSystem, prompts } = await start();
    expect((await fromSystem("child:1", "pmt_a")).repeated).toBe(false);
    expect((await fromSystem("child:1", "pmt_b")).repeated).toBe(true);
    expect((await prompts()).map(({ id }) => id)).toEqual(["pmt_a"]);
  });

  it("queues in the order of arrival, and gives the first one its run", async () => {
    const { id, send, prompts, select } = await start();
    const sent: string[] = [];
    for (const content of ["a", "b", "c"]) sent.push((await send(id, content)).id);
    const rows = await prompts();
    expect(rows.map((row) => row.id)).toEqual(sent);
    expect(rows.map(({ state }) => state)).toEqual(["queued", "queued", "queued"]);
    const runs = await select<{ prompt_id: string; state: string }>("select * from runs");
    expect(runs).toMatchObject([{ prompt_id: sent[0], state: "pending" }]);
  });

  it("refuses what is too much, but nothing that follows from what has happened", async () => {
    const { id, send, fromSystem, prompts } = await start();
    for (let n = 0; n < MAX_WAITING; n++) await send(id, `${n}`);
    await expect(send(id, "one more")).rejects.toMatchObject({ code: "queue_full" });
    await fromSystem("child:1", "pmt_a");
    expect(await prompts()).toHaveLength(MAX_WAITING + 1);
  });

  it("wakes a hibernated session and refuses an archived one", async () => {
    const { id, send, kernel, prompts } = await start();
    await kernel.sessions.hibernate(owner, id);
    await send(id, "wake up");
    expect(await kernel.sessions.get(owner, id)).toMatchObject({ lifecycle: "active" });
    await kernel.sessions.terminate(owner, id);
    await expect(send(id, "hello")).rejects.toMatchObject({ code: "session_not_active" });
    expect((await prompts()).map(({ outcome }) => outcome)).toEqual(["aborted"]);
  });
});

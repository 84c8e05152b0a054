/**
 * The probe: one plain prompt after the other in its own sessions, watched over a live socket. It
 * measures the latency of prompts, of live events and of the server's answers, and, as the
 * reference for all of these, that of the model server, which is not part of the product.
 */
import { WebSocket } from "ws";
import type { LiveServerFrame } from "#protocol/live.ts";
import { type Person, sendPrompt, startSession, untilSettled } from "./sessions.ts";
import type { Worker } from "./worker.ts";

const TURNS_PER_CONTEXT = 10;

export interface ProbeOptions {
  url: string;
  key: string;
  modelUrl: string;
}

export interface Probe {
  id: string;
  workers: Worker[];
  close(): void;
}

export async function createProbe(person: Person, options: ProbeOptions): Promise<Probe> {
  const { url, key, modelUrl } = options;
  const { ledger } = person;
  const id = await startSession(person, "probe");
  const watch = await watchSession(person, id, { url, key });
  let turns = 0;
  const prompts: Worker = {
    name: "probe",
    pauseMs: [250, 500],
    async act() {
      if (++turns % TURNS_PER_CONTEXT === 0)
        return void (await person.api.once.sessions.clear({ id }));
      const startedAt = performance.now();
      const promptId = await sendPrompt(person, id, `SAY answer ${turns}`);
      await watch.untilSettled(promptId);
      ledger.note("settled", performance.now() - startedAt);
      await untilSettled(person, promptId);
    },
  };
  const requests: Worker = {
    name: "health",
    pauseMs: [150, 300],
    async act() {
      ledger.note("health", await timeOf(`${url}/health`));
      ledger.note("reference", await timeOf(`${modelUrl}/v1/models`));
    },
  };
  return { id, workers: [prompts, requests], close: watch.close };
}

async function timeOf(url: string): Promise<number> {
  const startedAt = performance.now();
  const answer = await fetch(url, { signal: AbortSignal.timeout(60_000) });
  await answer.text();
  if (!answer.ok) throw new Error(`${url}: ${answer.status}`);
  return performance.now() - startedAt;
}

async function watchSession(
  { ledger }: Person,
  id: string,
  { url, key }: { url: string; key: string },
): Promise<{ untilSettled(promptId: string): Promise<void>; close(): void }> {
  const socket = new WebSocket(`${url.replace(/^http/, "ws")}/api/live`, {
    headers: { authorization: `Bearer ${key}` },
  });
  const seen = new Map<string, PromiseWithResolvers<void>>();
  const settledOf = (promptId: string) => {
    const known = seen.get(promptId) ?? Promise.withResolvers<void>();
    seen.set(promptId, known);
    return known;
  };
  socket.on("message", (data) => {
    const frame = JSON.parse(String(data)) as LiveServerFrame;
    if (!("seq" in frame) || !("at" in frame)) return;
    ledger.note("delivered", Math.max(0, Date.now() - Date.parse(frame.at)));
    if (frame.type === "prompt_settled" && frame.promptId) settledOf(frame.promptId).resolve();
  });
  await new Promise<void>((resolve, reject) => {
    socket.once("open", resolve);
    socket.once("error", reject);
  });
  socket.on("close", (code) => {
    if (code !== 1005) ledger.complain(`the probe's live socket was closed with ${code}`);
  });
  socket.send(JSON.stringify({ op: "subscribe", topic: `session:${id}`, after: 0 }));
  return {
    async untilSettled(promptId) {
      await settledOf(promptId).promise;
      seen.delete(promptId);
    },
    close: () => socket.close(),
  };
}

/** Client actions on sessions: start one, prompt it, wait for the end of a turn. */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Prompt, QueueMode } from "#protocol/sessions.ts";
import type { Api } from "#test/faults/clients/api.ts";
import type { Ledger } from "./ledger.ts";

const LOOK_EVERY_MS = 200;
/** A limit for hangs, not for slowness. */
const SETTLE_WITHIN_MS = 180_000;

/** A person who uses the product, and the ledger of their observations. */
export interface Person {
  api: Api;
  ledger: Ledger;
}

export async function startSession({ api }: Person, title: string): Promise<string> {
  const { session } = await api.once.sessions.create(
    { body: { title, runtime: "native" } },
    { idempotencyKey: randomUUID() },
  );
  return session.id;
}

export async function sendPrompt(
  { api, ledger }: Person,
  sessionId: string,
  content: string,
  mode: QueueMode = "followup",
): Promise<string> {
  const { prompt } = await api.once.prompts.create({
    id: sessionId,
    body: { content, mode, dispatchId: randomUUID() },
  });
  ledger.accepted(prompt.id);
  return prompt.id;
}

/** Waits for the outcome of a prompt, which must be one of those expected. */
export async function untilSettled(
  { api, ledger }: Person,
  promptId: string,
  expected: readonly string[] = ["completed"],
): Promise<Prompt> {
  const deadline = Date.now() + SETTLE_WITHIN_MS;
  while (Date.now() < deadline) {
    const { prompt } = await api.patient.prompts.get({ id: promptId });
    if (prompt.state === "settled") {
      ledger.settle(prompt, expected);
      return prompt;
    }
    await sleep(LOOK_EVERY_MS);
  }
  throw new Error(`prompt ${promptId} has not settled`);
}

/** Sends a prompt and waits for its outcome. */
export async function ask(
  person: Person,
  sessionId: string,
  content: string,
  expected?: readonly string[],
): Promise<Prompt> {
  return untilSettled(person, await sendPrompt(person, sessionId, content), expected);
}

/** One response of the model with this tool call. */
export function call(tool: string, input: object): string {
  return `CALL ${tool} ${JSON.stringify(input)}`;
}

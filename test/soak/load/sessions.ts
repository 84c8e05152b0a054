/** Client actions on sessions: start one, prompt it, wait for the end of a turn. */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Prompt, QueueMode, Session } from "#protocol/sessions.ts";
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
  const answer = await api.send(
    "POST",
    "/api/sessions",
    { title, runtime: "native" },
    { "idempotency-key": randomUUID() },
  );
  if (answer.status !== 201) throw new Error(`no session: ${JSON.stringify(answer.body)}`);
  return (answer.body.session as Session).id;
}

export async function sendPrompt(
  { api, ledger }: Person,
  sessionId: string,
  content: string,
  mode: QueueMode = "followup",
): Promise<string> {
  const path = `/api/sessions/${sessionId}/prompts`;
  const answer = await api.send("POST", path, { content, mode, dispatchId: randomUUID() });
  if (answer.status !== 202) throw new Error(`no prompt: ${JSON.stringify(answer.body)}`);
  const { id } = answer.body.prompt as Prompt;
  ledger.accepted(id);
  return id;
}

/** Waits for the outcome of a prompt, which must be one of those expected. */
export async function untilSettled(
  { api, ledger }: Person,
  promptId: string,
  expected: readonly string[] = ["completed"],
): Promise<Prompt> {
  const deadline = Date.now() + SETTLE_WITHIN_MS;
  while (Date.now() < deadline) {
    const { prompt } = (await api.get(`/api/prompts/${promptId}`)) as { prompt: Prompt };
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

export async function changeSession(
  { api }: Person,
  sessionId: string,
  action: "archive" | "terminate" | "clear" | "stop",
  body: object = {},
): Promise<void> {
  const answer = await api.send("POST", `/api/sessions/${sessionId}/${action}`, body);
  if (answer.status !== 200) throw new Error(`no ${action}: ${JSON.stringify(answer.body)}`);
}

/** One response of the model with this tool call. */
export function call(tool: string, input: object): string {
  return `CALL ${tool} ${JSON.stringify(input)}`;
}

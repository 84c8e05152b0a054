/**
 * People who write to each other and to an agent, read their inbox, answer and archive messages.
 */
import { randomUUID } from "node:crypto";
import type { Random } from "#test/faults/random.ts";
import { HANDLE } from "./delegations.ts";
import type { Person } from "./sessions.ts";
import type { Worker } from "./worker.ts";

interface MailMessage {
  id: string;
}

/** `other`: the name of another member, to whom `person` writes. */
export function createMessages(person: Person, other: string, random: Random): Worker {
  const { api } = person;
  const act = async () => {
    await write(person, random.chance(0.5) ? `@${HANDLE}` : `@user:${other}`);
    const { items } = (await api.get("/api/me/inbox?box=inbox&limit=20")) as {
      items: MailMessage[];
    };
    for (const { id } of items.slice(0, 3)) {
      if (random.chance(0.3)) await require200(api.send("PUT", `/api/me/inbox/${id}/read`));
      await require200(api.send("PATCH", `/api/me/inbox/${id}`, { archived: true }));
    }
    await api.get("/api/me/inbox/count");
  };
  return { name: `messages to ${other}`, pauseMs: [3_000, 6_000], act };
}

async function write({ api }: Person, to: string): Promise<void> {
  const key = { "idempotency-key": randomUUID() };
  const message = { to, content: `How is it going? (${key["idempotency-key"].slice(0, 8)})` };
  const { status, body } = await api.send("POST", "/api/messages", message, key);
  if (status !== 201) throw new Error(`no message to ${to}: ${JSON.stringify(body)}`);
}

async function require200(answer: Promise<{ status: number; body: object }>): Promise<void> {
  const { status, body } = await answer;
  if (status !== 200) throw new Error(`a message was not changed: ${JSON.stringify(body)}`);
}

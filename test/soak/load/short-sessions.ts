/** Short sessions: started, prompted once or twice, and archived, terminated or deleted. */
import { randomUUID } from "node:crypto";
import type { Random } from "#test/faults/random.ts";
import { ask, call, type Person, startSession } from "./sessions.ts";
import type { Worker } from "./worker.ts";

export function createShortSessions(person: Person, name: string, random: Random): Worker {
  const act = async () => {
    const id = await startSession(person, `short ${name} ${randomUUID().slice(0, 8)}`);
    await ask(person, id, workOf(random));
    if (random.chance(0.3)) await ask(person, id, "SAY and once more");
    await end(person, id, random);
  };
  return { name: `short sessions ${name}`, pauseMs: [1_500, 3_500], act };
}

function workOf(random: Random): string {
  const lines = [call("bash", { command: "mkdir -p a/b; echo hello > a/b/c.txt; ls -R" })];
  // A process that would outlive the turn ends with its session.
  if (random.chance(0.3)) lines.push(call("bash", { command: "sleep 3600", background: true }));
  return [...lines, "SAY it is short"].join("\n");
}

async function end({ api }: Person, id: string, random: Random): Promise<void> {
  const { sessions } = api.once;
  switch (random.pick(["archive", "terminate", "delete"])) {
    case "archive":
      return void (await sessions.archive({ id, body: { force: true } }));
    case "terminate":
      return void (await sessions.terminate({ id }));
    case "delete":
      return void (await sessions.delete({ id, query: { force: "true" } }));
  }
}

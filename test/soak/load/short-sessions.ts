/** Short sessions: started, prompted once or twice, and archived, terminated or deleted. */
import { randomUUID } from "node:crypto";
import type { Random } from "#test/faults/random.ts";
import { ask, call, changeSession, type Person, startSession } from "./sessions.ts";
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

async function end(person: Person, id: string, random: Random): Promise<void> {
  switch (random.pick(["archive", "terminate", "delete"])) {
    case "archive":
      return changeSession(person, id, "archive", { force: true });
    case "terminate":
      return changeSession(person, id, "terminate");
    case "delete": {
      const { status, body } = await person.api.send("DELETE", `/api/sessions/${id}?force=true`);
      if (status !== 200) throw new Error(`not deleted: ${JSON.stringify(body)}`);
    }
  }
}

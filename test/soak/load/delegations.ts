/**
 * An orchestrator that starts children and waits; each child works, completes and wakes it. The
 * orchestrator's model is scripted: it must be shown the result of every child.
 */
import { randomUUID } from "node:crypto";
import type { ModelLine } from "#test/faults/program/model-line.ts";
import type { Conversation } from "#test/model-server/script.ts";
import { ask, call, type Person } from "./sessions.ts";
import { pause, type Worker } from "./worker.ts";

const CHILDREN = 2;
const DELEGATIONS_PER_CONTEXT = 4;
/** A limit for hangs, not for slowness. */
const NOTIFIED_WITHIN_MS = 120_000;
const LOOK_EVERY_MS = 200;
const DELEGATE = /^DELEGATE (\S+)$/m;
const RESULT = /\bresult-[0-9a-f]{8}-\d+\b/g;

export const HANDLE = "soak-lead";

export async function createDelegations(
  person: Person,
  line: ModelLine,
): Promise<{ id: string; worker: Worker }> {
  const lead = new Lead();
  line.play("lead", (conversation) => lead.play(conversation));
  const { orchestrators } = person.api.once;
  const { session } = await orchestrators.create({
    body: { name: "lead", handle: HANDLE, style: "custom", customInstructions: "PLAY lead" },
  });
  await orchestrators.updateIdentity({ body: { acceptsAgentMail: "org" } });
  let count = 0;
  const act = async () => {
    if (++count % DELEGATIONS_PER_CONTEXT === 0)
      await person.api.once.sessions.clear({ id: session.id });
    const token = randomUUID().slice(0, 8);
    await ask(person, session.id, `DELEGATE ${token}`);
    await lead.untilTold(token);
  };
  return { id: session.id, worker: { name: "delegations", pauseMs: [1_000, 2_500], act } };
}

class Lead {
  /** Results that it was shown and that no test has checked yet. */
  readonly #told = new Set<string>();

  play({ userText, round, toolResults }: Conversation): string {
    for (const text of [userText, ...toolResults])
      for (const [result] of text.matchAll(RESULT)) this.#told.add(result);
    const token = DELEGATE.exec(userText)?.[1];
    if (token === undefined) return "SAY Noted.";
    if (round > 0) return call("wait_for_event", {});
    return spawnAll(token);
  }

  async untilTold(token: string): Promise<void> {
    const results = Array.from({ length: CHILDREN }, (_, n) => `result-${token}-${n}`);
    const deadline = AbortSignal.timeout(NOTIFIED_WITHIN_MS);
    while (!results.every((result) => this.#told.has(result))) {
      if (deadline.aborted) throw new Error(`a parent was not told of ${results.join(" and ")}`);
      await pause(LOOK_EVERY_MS, deadline);
    }
    for (const result of results) this.#told.delete(result);
  }
}

function spawnAll(token: string): string {
  const lines = Array.from({ length: CHILDREN }, (_, n) => {
    const prompt = [
      call("bash", { command: `echo child ${n} > made-by-child.txt` }),
      call("complete_session", { summary: `result-${token}-${n}` }),
    ].join("\n");
    const spawn = call("spawn_session", { title: `child ${token} ${n}`, prompt });
    return n === 0 ? spawn : spawn.replace(/^CALL/, "ALSO");
  });
  return lines.join("\n");
}

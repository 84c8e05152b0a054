/**
 * Long-lived sessions: turns with commands and file edits in the same workspace, some of them
 * stopped or steered. The context is cleared now and then, so that a turn costs the same in the
 * last minute as in the first while the log of the session grows.
 */
import type { Random } from "#test/faults/random.ts";
import { ask, call, type Person, sendPrompt, startSession, untilSettled } from "./sessions.ts";
import { pause, type Worker } from "./worker.ts";

const TURNS_PER_CONTEXT = 8;
/** Maximum number of files in the workspace, whatever the number of turns. */
const FILES = 10;
/** More output than a model is shown; the rest is kept in a file. */
const LONG_OUTPUT = "seq 1 20000";

export async function createLongSession(
  person: Person,
  name: string,
  random: Random,
): Promise<{ id: string; worker: Worker }> {
  const id = await startSession(person, `long ${name}`);
  let turns = 0;
  const act = async (ending: AbortSignal) => {
    turns++;
    if (turns % TURNS_PER_CONTEXT === 0) return void (await person.api.once.sessions.clear({ id }));
    const choice = random.next();
    if (choice < 0.1) return stopTurn(person, id, ending);
    if (choice < 0.2) return steerTurn(person, id, ending);
    await ask(person, id, workOf(turns, random));
  };
  return { id, worker: { name: `long session ${name}`, pauseMs: [400, 900], act } };
}

function workOf(turn: number, random: Random): string {
  const path = `notes-${turn % FILES}.txt`;
  const lines = [
    call("bash", { command: `date +%N > stamp; cat stamp; echo turn ${turn}` }),
    call("write", { path, content: `turn ${turn}\nfirst\nsecond\n` }),
    call("edit", { path, edits: [{ oldText: "first", newText: `edited in ${turn}` }] }),
  ];
  if (random.chance(0.15)) lines.push(call("bash", { command: LONG_OUTPUT }));
  return [...lines, `SAY turn ${turn} is done`].join("\n");
}

async function stopTurn(person: Person, id: string, ending: AbortSignal): Promise<void> {
  const promptId = await sendPrompt(person, id, "SLOW 60 100");
  await pause(700, ending);
  await person.api.once.sessions.stop({ id, body: { promptId } });
  await untilSettled(person, promptId, ["aborted"]);
}

async function steerTurn(person: Person, id: string, ending: AbortSignal): Promise<void> {
  const first = await sendPrompt(person, id, "SLOW 30 100");
  await pause(700, ending);
  const second = await sendPrompt(person, id, "SAY steered", "steer");
  await untilSettled(person, second);
  await untilSettled(person, first, ["completed", "aborted", "superseded"]);
}

/**
 * A member's own runner behind a connection that breaks now and then; it must come back each time.
 */

import { Cable } from "#test/faults/program/cable.ts";
import type { MusterProcess } from "#test/faults/program/muster-process.ts";
import type { Stage } from "#test/faults/program/stage.ts";
import type { Person } from "./sessions.ts";
import { pause, type Worker } from "./worker.ts";

const NAME = "visitor";
/** A limit for hangs, not for slowness. */
const BACK_WITHIN_MS = 60_000;
const LOOK_EVERY_MS = 250;

export interface PersonalRunner {
  process: MusterProcess;
  worker: Worker;
  close(): void;
}

export async function startPersonalRunner(person: Person, stage: Stage): Promise<PersonalRunner> {
  const { token } = await person.api.once.runnerTokens.create({ body: { name: NAME } });
  const cable = await Cable.lay(stage.url);
  const process = await stage.startRunnerNamed(NAME, cable.url, token);
  await untilBack(person);
  const act = async () => {
    cable.cut();
    await untilBack(person);
  };
  return {
    process,
    worker: { name: "personal runner", pauseMs: [8_000, 15_000], act },
    close: () => cable.close(),
  };
}

async function untilBack({ api }: Person): Promise<void> {
  const deadline = AbortSignal.timeout(BACK_WITHIN_MS);
  while (!deadline.aborted) {
    const { items } = await api.patient.runners.list();
    if (items.some(({ name, state }) => name === NAME && state !== "offline")) return;
    await pause(LOOK_EVERY_MS, deadline);
  }
  throw new Error("the personal runner has not come back");
}

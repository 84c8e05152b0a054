/**
 * A feature like any other: it listens, sets timers, uses the outbox, judges calls, and has one
 * tool that asks people and one that leaves a mark.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import * as z from "zod";
import { Refusal } from "#base/refusal.ts";
import type { Migration } from "#base/store/index.ts";
import { openGate } from "#engine/gates/index.ts";
import type { Feature } from "#engine/index.ts";
import { sendLater } from "#engine/outbox/index.ts";
import { defineTool, type Tool } from "#engine/tools/index.ts";
import { Staged } from "../expected.ts";
import { ASK_TOOL, EFFECT_TOOL, ruleOf } from "../judging.ts";
import type { World } from "../world.ts";

export const SIM_TIMER = "sim";

/** The fence and boot of the frame that the server is handling, as the runner sent them. */
export const sender = new AsyncLocalStorage<{ fence: number; boot: string }>();

/** Triggers in the database record every change, whoever makes it. */
const WATCHED = {
  sessions: "id",
  prompts: "session_id",
  runs: "session_id",
  gates: "session_id",
} as const;
const watchers = Object.entries(WATCHED).flatMap(([table, session]) =>
  (["insert", "update", "delete"] as const).map((what) => {
    const row = what === "delete" ? "old" : "new";
    return `create trigger sim_${table}_${what} after ${what} on ${table} begin insert into sim_changes (kind, what, id, session_id) values ('${table}', '${what}', ${row}.id, ${row}.${session}); end`;
  }),
);

export const simMigration: Migration = {
  id: "9000-simulation",
  statements: () => [
    "create table sim_changes (kind text not null, what text not null, id text not null, session_id text not null)",
    "create table sim_fired (subject text not null, at integer not null)",
    "create table sim_effects (token text not null, session_id text not null, prompt_id text not null, call_id text not null, run_id text not null, fence integer not null, boot text not null)",
    "create trigger sim_effects_insert after insert on sim_effects begin insert into sim_changes (kind, what, id, session_id) values ('effects', 'insert', new.token, new.session_id); end",
    "create index sim_unsettled on prompts (session_id) where state <> 'settled'",
    ...watchers,
    "create trigger sim_outbox_deleted after delete on outbox begin insert into sim_changes (kind, what, id, session_id) values ('outbox', 'deleted', old.id, ''); end",
    "create trigger sim_outbox_reverted after update on outbox when old.state = 'delivered' and new.state <> 'delivered' begin insert into sim_changes (kind, what, id, session_id) values ('outbox', 'taken back after its delivery', old.id, ''); end",
  ],
};

export function simFeature(world: World): Feature {
  const { random, odds } = world;
  return {
    name: "simulation",
    judge: async (_work, { input, callId }) => {
      const verdict = ruleOf(input);
      return verdict && { verdict, reason: verdict === "allow" ? null : `${verdict} ${callId}` };
    },
    listeners: [
      async (work, event) => {
        if (event.type !== "prompt_settled") return;
        const { prompt } = event;
        await sendLater(work, prompt.org_id, "sim", `settled:${prompt.id}`, { id: prompt.id });
      },
    ],
    timers: {
      [SIM_TIMER]: async (work, timer) => {
        if (!world.calm && random.chance(odds.timerFails))
          throw new Staged("the timer's work failed");
        await work.tx.execute({
          sql: "insert into sim_fired (subject, at) values (?, ?)",
          parameters: [timer.subject, work.now],
        });
      },
    },
    deliverers: {
      sim: async (_payload, causeKey) => {
        if (!world.calm && random.chance(odds.deliveryHangs))
          await world.clock.sleep(random.between(1_000, 90_000));
        if (!world.calm && random.chance(odds.deliveryFails)) throw new Staged("nobody answers");
        world.oracle.delivered(causeKey);
      },
    },
  };
}

export function simTools(world: World): Tool[] {
  return [
    defineTool({
      name: ASK_TOOL,
      description: "Asks a person.",
      schema: z.object({ gate: z.string(), ttlMs: z.number() }),
      readOnly: false,
      target: () => null,
      // Each poll is a call of its own; all of them share one gate.
      handle: async (work, { session, run }, { gate: callId, ttlMs }) => {
        const gate = await openGate(work, session, run, {
          callId,
          kind: "question",
          tool: ASK_TOOL,
          target: null,
          shown: { text: world.seed },
          ttlMs,
        });
        return { output: { gate: gate.id, state: gate.state }, error: null };
      },
    }),
    defineTool({
      name: EFFECT_TOOL,
      description: "Leaves a mark.",
      schema: z.object({
        words: z.string(),
        refuse: z.boolean().optional(),
      }),
      readOnly: false,
      target: ({ words }) => words,
      handle: async (work, { session, run, callId }, { refuse }) => {
        const by = sender.getStore();
        const token = `${run.prompt_id}/${callId}/${world.random.between(0, 2 ** 31)}`;
        await work.tx.execute({
          sql: "insert into sim_effects (token, session_id, prompt_id, call_id, run_id, fence, boot) values (?, ?, ?, ?, ?, ?, ?)",
          parameters: [
            token,
            session.row.id,
            run.prompt_id,
            callId,
            run.id,
            by?.fence ?? 0,
            by?.boot ?? "",
          ],
        });
        if (refuse) throw new Refusal("conflict", "not_now", "Not now. Try something else.");
        return { output: { token }, error: null };
      },
    }),
  ];
}

/** A person who looks around: lists, transcripts, changes, usage, and searches. */
import type { Client } from "#client/index.ts";
import { unlessRefused } from "#test/faults/clients/api.ts";
import type { Random } from "#test/faults/random.ts";
import type { Person } from "./sessions.ts";
import type { Worker } from "./worker.ts";

type Read = (api: Client) => Promise<unknown>;

const PAGES: readonly [Read, ...Read[]] = [
  (api) => api.runners.list(),
  (api) => api.usage.list(),
  (api) => api.approvals.list({ query: { state: "pending", limit: 20 } }),
  (api) => api.sessions.list({ query: { lifecycle: "archived,terminated", limit: 50 } }),
  (api) => api.audit.list({ query: { limit: 20 } }),
];
const WORDS = ["turn", "short", "child result", "edited", '"is done"'] as const;

export function createReader({ api }: Person, random: Random): Worker {
  const act = async () => {
    const { items } = await api.patient.sessions.list({ query: { limit: 30 } });
    const session = items[random.between(0, items.length)];
    if (session) {
      const { id } = session;
      const { sessions, workspaces, prompts } = api.once;
      // A session may be purged between the list and the read.
      await unlessRefused(sessions.transcript({ id, query: { limit: 100 } }));
      await unlessRefused(workspaces.changes({ id }));
      await unlessRefused(prompts.list({ id, query: { limit: 50 } }));
    }
    await random.pick(PAGES)(api.patient);
    await api.patient.search.find({ query: { q: random.pick(WORDS) } });
  };
  return { name: "reader", pauseMs: [700, 1_500], act };
}

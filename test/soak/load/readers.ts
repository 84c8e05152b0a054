/** A person who looks around: lists, transcripts, changes, usage, and searches. */
import type { Session } from "#protocol/sessions.ts";
import type { Random } from "#test/faults/random.ts";
import type { Person } from "./sessions.ts";
import type { Worker } from "./worker.ts";

const PAGES = [
  "/api/runners",
  "/api/usage",
  "/api/approvals?state=pending&limit=20",
  "/api/sessions?lifecycle=archived,terminated&limit=50",
  "/api/audit?limit=20",
] as const;
const WORDS = ["turn", "short", "child result", "edited", '"is done"'] as const;

export function createReader({ api }: Person, random: Random): Worker {
  const act = async () => {
    const { items } = (await api.get("/api/sessions?limit=30")) as { items: Session[] };
    const session = items[random.between(0, items.length)];
    if (session) {
      // A session may be purged between the list and the read.
      for (const part of ["transcript?limit=100", "changes", "prompts?limit=50"])
        await api.send("GET", `/api/sessions/${session.id}/${part}`);
    }
    await api.get(random.pick(PAGES));
    await api.get(`/api/search?q=${encodeURIComponent(random.pick(WORDS))}`);
  };
  return { name: "reader", pauseMs: [700, 1_500], act };
}

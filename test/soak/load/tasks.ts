/**
 * A person at the board of a session: adds tasks, one of them blocked, completes and deletes them.
 */
import type { ApiRoutes, BodyOf } from "#client/index.ts";
import type { Person } from "./sessions.ts";
import type { Worker } from "./worker.ts";

export function createTasks({ api }: Person, sessionId: string): Worker {
  const { tasks } = api.once;
  const id = sessionId;
  const add = async (body: BodyOf<ApiRoutes["tasks"]["create"]>) =>
    (await tasks.create({ id, body })).task.id;
  const act = async () => {
    const first = await add({ title: "Look at the figures" });
    const second = await add({ title: "Then act", blockedBy: [first] });
    await tasks.update({ id, taskId: first, body: { status: "in_progress" } });
    const done = { status: "completed", result: "They are steady." } as const;
    await tasks.update({ id, taskId: first, body: done });
    await api.patient.tasks.list({ id, query: { limit: 50 } });
    await tasks.update({ id, taskId: second, body: { status: "completed" } });
    for (const taskId of [second, first]) await tasks.delete({ id, taskId });
  };
  return { name: "tasks", pauseMs: [3_000, 6_000], act };
}

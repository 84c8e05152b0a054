/**
 * A person at the board of a session: adds tasks, one of them blocked, completes and deletes them.
 */
import type { Person } from "./sessions.ts";
import type { Worker } from "./worker.ts";

interface Task {
  id: string;
}

export function createTasks({ api }: Person, sessionId: string): Worker {
  const path = `/api/sessions/${sessionId}/tasks`;
  const send = async (method: string, where: string, body?: object): Promise<Task> => {
    const answer = await api.send(method, where, body);
    if (answer.status >= 300) throw new Error(`${method} ${where}: ${JSON.stringify(answer.body)}`);
    return answer.body.task as Task;
  };
  const act = async () => {
    const first = await send("POST", path, { title: "Look at the figures" });
    const second = await send("POST", path, { title: "Then act", blockedBy: [first.id] });
    await send("PUT", `${path}/${first.id}`, { status: "in_progress" });
    await send("PUT", `${path}/${first.id}`, { status: "completed", result: "They are steady." });
    await api.get(`${path}?limit=50`);
    await send("PUT", `${path}/${second.id}`, { status: "completed" });
    for (const { id } of [second, first]) await send("DELETE", `${path}/${id}`);
  };
  return { name: "tasks", pauseMs: [3_000, 6_000], act };
}

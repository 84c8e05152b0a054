/**
 * The required end of the story, whatever was killed on the way: everything once, and nothing half.
 */
import type { MailMessage } from "#features/mailbox/contract.ts";
import type { Task } from "#features/tasks/contract.ts";
import type { Prompt, Session } from "#protocol/sessions.ts";
import type { Api } from "../clients/api.ts";
import { FILE, MESSAGE, REPORT, RESULTS, TASKS } from "./story.ts";

const ALL = "lifecycle=active,hibernated,archived,terminated";

/** Returns the violations. */
export async function checkStory(api: Api, orchestratorId: string): Promise<string[]> {
  const violations: string[] = [];
  const must = (holds: boolean, text: string) => {
    if (!holds) violations.push(text);
  };
  const sessions = await api.list<Session>(`/api/sessions?${ALL}`);
  const children = sessions.filter(({ parentSessionId }) => parentSessionId === orchestratorId);
  const titles = children.map(({ title }) => title).sort();
  must(titles.join() === "api,web", `children: ${titles.join()}`);
  await checkBoard(api, orchestratorId, must);
  const web = children.find(({ title }) => title === "web");
  if (!web) return violations;
  const messages = await api.list<MailMessage>(`/api/sessions/${web.id}/messages?all=true`);
  must(
    messages.length === 1 && messages[0]?.content === MESSAGE && messages[0].fate === "delivered",
    `messages: ${JSON.stringify(messages.map(({ content, fate }) => [content, fate]))}`,
  );
  await checkNotified(api, web.id, must);
  await checkReport(api, orchestratorId, must);
  const file = await api.insist("GET", `/api/sessions/${web.id}/changes`);
  must(JSON.stringify(file.body).includes(FILE), `no ${FILE} in what the child changed`);
  return violations;
}

interface Entry {
  kind: string;
  role: string;
  text: string | null;
  tool: unknown;
}

type Must = (holds: boolean, text: string) => void;

async function checkBoard(api: Api, orchestratorId: string, must: Must): Promise<void> {
  const tasks = await api.list<Task>(`/api/sessions/${orchestratorId}/tasks`);
  const [first, second] = [TASKS.api, TASKS.web].map((title) =>
    tasks.find((task) => task.title === title),
  );
  must(tasks.length === 2 && !!first && !!second, `tasks: ${tasks.map(({ title }) => title)}`);
  must(second?.blockedBy.join() === first?.id, `the second waits for ${second?.blockedBy}`);
  for (const [task, result] of [
    [first, RESULTS.api],
    [second, RESULTS.web],
  ] as const)
    must(
      task?.status === "completed" && task.result === result,
      `${task?.title}: ${task?.status}, ${task?.result}`,
    );
}

/** The second child was notified of the message once, and of its task once, in this order. */
async function checkNotified(api: Api, webId: string, must: Must): Promise<void> {
  const prompts = await api.list<Prompt>(`/api/sessions/${webId}/prompts`);
  const notices = prompts.flatMap(({ notice }) => notice ?? []);
  const messages = notices.flatMap((notice) => (notice.kind === "messages" ? notice.items : []));
  const news = notices.flatMap((notice) => (notice.kind === "board" ? notice.items : []));
  const written = messages.filter(({ text }) => text === MESSAGE);
  const unblocked = news.filter(
    (item) => item.event === "unblocked" && item.task.title === TASKS.web,
  );
  must(written.length === 1, `told of the message ${written.length} times`);
  must(unblocked.length === 1, `told of its task ${unblocked.length} times`);
  for (const prompt of prompts)
    must(prompt.outcome === "completed", `${prompt.content.slice(0, 60)}: ${prompt.outcome}`);
}

async function checkReport(api: Api, orchestratorId: string, must: Must): Promise<void> {
  const { items } = (await api.get(
    `/api/sessions/${orchestratorId}/transcript?limit=200`,
  )) as unknown as { items: Entry[] };
  const said = items.filter(({ kind, role }) => kind === "text" && role === "assistant");
  must(
    said.at(-1)?.text?.includes(REPORT) ?? false,
    `the orchestrator said last: ${said.at(-1)?.text}`,
  );
}

/** Everyone's prompts and their outcomes, for a report. */
export async function describeStory(api: Api): Promise<string[]> {
  const lines: string[] = [];
  for (const { id, title } of await api.list<Session>(`/api/sessions?${ALL}`)) {
    lines.push(`${title ?? id}:`);
    for (const { content, state, outcome } of await api.list<Prompt>(`/api/sessions/${id}/prompts`))
      lines.push(`  ${outcome ?? state}: ${content.slice(0, 200).replaceAll("\n", " / ")}`);
    const { items } = await api.get(`/api/sessions/${id}/transcript?limit=200`);
    for (const { kind, text, tool } of items as Entry[])
      if (kind !== "prompt")
        lines.push(`    ${kind}: ${JSON.stringify(tool ?? text).slice(0, 200)}`);
  }
  return lines;
}

/** Names in the API document: ids of operations, and descriptions of tags; pure. */

interface Named {
  method: string;
  path: string;
  tag: string;
}

/**
 * `GET /api/sessions/{id}/prompts` is `getSessionsByIdPrompts`. The id depends on method and path alone, so
 * it is unique and as stable as they are.
 */
export function operationId({ method, path }: Pick<Named, "method" | "path">): string {
  const parts = path
    .replace(/^\/api\//, "")
    .split("/")
    .map((part) => (part.startsWith("{") ? `By${capital(part.slice(1, -1))}` : words(part)));
  return method + parts.join("");
}

function words(part: string): string {
  return part
    .split(/[^A-Za-z0-9]+/)
    .map(capital)
    .join("");
}

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

const TAGS: Readonly<Record<string, string>> = {
  Approvals: "Requests of agents to people: approvals, questions and plans.",
  Audit: "The audit trail: events without content, in a tamper-evident chain.",
  Inbox: "Messages to you, and your notification settings.",
  Mailbox: "Messages between people and agents.",
  Memory: "Memories of your orchestrator and of repositories.",
  Orchestration: "Supervisor mode: sessions that lead workers.",
  Orchestrator: "Your orchestrator.",
  Organisation: "Members, invitations and oversight by admins.",
  Personas: "Personas: instructions and skills for sessions.",
  Policy: "Rules for tools: what is allowed, and what needs an approval.",
  Prompts: "Prompts to sessions, and their queue.",
  Providers: "Model providers and their keys.",
  Repositories: "Repositories that sessions work on.",
  Runners: "The machines that work on turns.",
  Runs: "Runs: turns that other systems start and follow.",
  Search: "Search by words.",
  Secrets: "Secrets that agents may use without reading them.",
  Sessions: "Sessions, their transcripts and life cycle.",
  Storage: "Storage space and retention.",
  Tasks: "Task boards.",
  Usage: "Tokens and costs.",
  You: "Your account, keys and settings.",
};

export function tagsOf(specs: readonly Pick<Named, "tag">[]): object[] {
  const names = [...new Set(specs.map(({ tag }) => tag))].toSorted();
  return names.map((name) => ({ name, description: TAGS[name] ?? name }));
}

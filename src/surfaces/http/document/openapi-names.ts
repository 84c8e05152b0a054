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
  Approvals: "What agents ask people: approvals, questions and plans.",
  Audit: "What happened, without content, in a chain that shows changes.",
  Inbox: "Messages to you, and how you want to hear of them.",
  Mailbox: "Messages between people and agents.",
  Memory: "What agents remember for you and for repositories.",
  Orchestration: "Supervisor mode: sessions that lead workers.",
  Orchestrator: "Your own lasting agent.",
  Organisation: "Members, invitations and what admins oversee.",
  Personas: "Instructions and skills that sessions work with.",
  Policy: "What tools may do, and what needs an approval.",
  Prompts: "What is said to sessions, and the queue.",
  Providers: "Providers of models and their keys.",
  Repositories: "Repositories that sessions work on.",
  Runners: "Machines that work turns.",
  Runs: "Turns as other systems start and follow them.",
  Search: "Finding things by words.",
  Secrets: "Secrets that agents may use without reading them.",
  Sessions: "Conversations with agents, their transcripts and lives.",
  Storage: "What takes room, and how long it is kept.",
  Tasks: "Boards of tasks.",
  Usage: "Tokens and costs.",
  You: "Your account, keys and settings.",
};

export function tagsOf(specs: readonly Pick<Named, "tag">[]): object[] {
  const names = [...new Set(specs.map(({ tag }) => tag))].toSorted();
  return names.map((name) => ({ name, description: TAGS[name] ?? name }));
}

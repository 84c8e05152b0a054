import type { ApiRoutes, QueryOf } from "#client/index.ts";
import type { MailFolder } from "#features/mailbox/contract.ts";
import type { PruneRequest } from "#features/memory/contract.ts";
import type { SearchKind } from "#features/search/contract.ts";
import type { SecretScope } from "#features/secrets/contract.ts";
import type { TaskStatus } from "#features/tasks/contract.ts";
import type { UsageGroup } from "#features/usage/contract.ts";
import type { MemoryFilter } from "./memory-scope.ts";

export type SessionFilter = Pick<
  QueryOf<ApiRoutes["sessions"]["list"]>,
  "lifecycle" | "parent" | "status" | "q"
>;

export interface MessageFilter
  extends Omit<QueryOf<ApiRoutes["inbox"]["list"]>, "unreadOnly" | "limit" | "cursor"> {
  box: MailFolder;
  unreadOnly?: boolean;
}

export type PruneFilter = Pick<PruneRequest, "below" | "unusedDays">;

export interface SearchFor {
  words: string;
  /** Empty means all. */
  kinds: readonly SearchKind[];
}

export const keys = {
  me: ["me"] as const,
  models: ["models"] as const,
  providers: ["providers"] as const,
  modelGateway: ["model gateway"] as const,
  runners: ["runners"] as const,
  disk: ["disk"] as const,
  runtimes: ["runtimes"] as const,
  sessionLists: ["sessions"] as const,
  sessionList: (filter: SessionFilter) => ["sessions", filter] as const,
  session: (id: string) => ["session", id] as const,
  orchestrator: ["orchestrator"] as const,
  avatar: (path: string) => ["avatar", path] as const,
  handle: (handle: string) => ["handle", handle] as const,
  preferences: ["preferences"] as const,
  /** Below `preferences`, so that it becomes stale with it. */
  modelForAll: ["preferences", "model for all"] as const,
  allChildren: ["family"] as const,
  childrenOf: (parentId: string) => ["family", parentId] as const,
  transcript: (id: string) => ["transcript", id] as const,
  tail: (id: string) => ["tail", id] as const,
  queue: (id: string) => ["queue", id] as const,
  /** Below the queue, so that it becomes stale with it. */
  running: (id: string) => ["queue", id, "running"] as const,
  /** Below the queue, so that it becomes stale with it. */
  failed: (id: string) => ["queue", id, "failed"] as const,
  prompt: (id: string) => ["prompt", id] as const,
  approvals: ["approvals"] as const,
  pendingApprovals: ["approvals", "pending"] as const,
  sessionApprovals: (id: string) => ["approvals", "session", id] as const,
  rules: ["rules"] as const,
  sessionChanges: (id: string) => ["changes", id] as const,
  changes: (id: string, turn: string | undefined) => ["changes", id, turn ?? "all"] as const,
  preview: (id: string, path: string, version: string, scripts: boolean) =>
    ["preview", id, path, version, scripts] as const,
  usage: (by: UsageGroup, from: string | undefined) => ["usage", by, from ?? "all"] as const,
  sessionUsage: (id: string) => ["usage of session", id] as const,
  /** Below the session's usage, so that it becomes stale with it. */
  sessionModels: (id: string) => ["usage of session", id, "models"] as const,
  personas: ["personas"] as const,
  /** Below the list, so that it becomes stale with it. */
  persona: (id: string) => ["personas", id] as const,
  personaVersions: (id: string) => ["personas", id, "versions"] as const,
  repos: ["repos"] as const,
  secrets: (scope: SecretScope) => ["secrets", scope] as const,
  apiKeys: ["api keys"] as const,
  signInLink: ["sign-in-link"] as const,
  signInProviders: ["sign-in providers"] as const,
  linkedAccounts: ["linked accounts"] as const,
  members: ["members"] as const,
  /** Below the list, so that it becomes stale with it. */
  removedMembers: ["members", "removed"] as const,
  overseen: ["everybody's sessions"] as const,
  overseenOrchestrators: ["everybody's orchestrators"] as const,
  invitations: ["invitations"] as const,
  orchestrationConfig: ["orchestration config"] as const,
  orchestrations: ["orchestration"] as const,
  orchestrationRole: (id: string) => ["orchestration", id, "role"] as const,
  workers: (id: string) => ["orchestration", id, "workers"] as const,
  inbox: (id: string) => ["orchestration", id, "inbox"] as const,
  lastModel: (id: string) => ["last model", id] as const,
  board: (id: string) => ["board", id] as const,
  boardColumn: (id: string, status: TaskStatus) => ["board", id, "column", status] as const,
  openTasks: (id: string) => ["board", id, "open"] as const,
  /** Not below the board: a task is refreshed only when it changed itself. */
  tasks: (boardId: string) => ["task", boardId] as const,
  task: (boardId: string, id: string) => ["task", boardId, id] as const,
  taskAnywhere: (id: string) => ["task", "anywhere", id] as const,
  memories: ["memories"] as const,
  memoryList: (filter: MemoryFilter) => ["memories", "list", filter] as const,
  memoryScopes: ["memories", "shelves"] as const,
  prunable: (wish: PruneFilter) => ["memories", "prunable", wish] as const,
  /** Keyed by the last update: the history stays the same until the memory is written again. */
  memoryHistory: (id: string, updatedAt: string) => ["memory history", id, updatedAt] as const,
  messages: ["messages"] as const,
  messageCount: ["messages", "count"] as const,
  messageLists: ["messages", "list"] as const,
  messageList: (filter: MessageFilter) => ["messages", "list", filter] as const,
  messageThreads: ["messages", "thread"] as const,
  messageThread: (threadId: string) => ["messages", "thread", threadId] as const,
  agents: ["agents"] as const,
  notificationPreferences: ["notification preferences"] as const,
  mailContacts: ["mail contacts"] as const,
  search: (wanted: SearchFor) => ["search", wanted] as const,
};

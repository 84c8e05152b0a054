/** Tool that creates a child of an orchestrator, with its input and its limits. */
import * as z from "zod";
import { Refusal } from "#base/refusal.ts";
import { defineTool, type Tool } from "#engine/tools/index.ts";
import { spawnChild } from "#features/delegation/index.ts";
import { giveToChild, requireSpawnable, taskBrief } from "#features/tasks/index.ts";
import { storedRepositoryAddress } from "#protocol/names/repository-address.ts";
import { ORCHESTRATORS } from "./own-child.ts";

const MAX_BRIEF_CHARS = 100_000;

const spawnInput = z.strictObject({
  prompt: z
    .string()
    .min(1)
    .max(MAX_BRIEF_CHARS)
    .describe(
      "The task brief, self-contained: the goal, where to look, what to leave alone, how to check it, what to report. The child has not seen your conversation.",
    ),
  title: z
    .string()
    .trim()
    .min(1)
    .max(300)
    .optional()
    .describe("A short title; people see it in their list."),
  repo: z
    .string()
    .trim()
    .min(1)
    .max(2_000)
    .optional()
    .describe(
      "The repository to work on: a full name from list_repos, or a web address. The child gets its own clone. Leave it out for work that needs no repository.",
    ),
  repo_url: z.string().trim().min(1).max(2_000).optional().describe("The same as repo."),
  branch: z
    .string()
    .trim()
    .min(1)
    .max(250)
    .optional()
    .describe("The branch to start from. Default: the repository's default branch."),
  persona: z
    .string()
    .trim()
    .min(1)
    .max(100)
    .optional()
    .describe(
      "The persona to work as: a slug from list_personas. One that your person asked for overrides the repository's default; one that you choose yourself does not.",
    ),
  workspace: z
    .string()
    .trim()
    .min(1)
    .max(100)
    .regex(
      /^(?!.*\.\.)[\p{L}\p{N}][\p{L}\p{N} ._-]*$/u,
      "must start with a letter or a digit and contain only letters, digits, spaces, dots, dashes and underscores",
    )
    .optional()
    .describe("A short name, used as the title if none is given. It does not choose a folder."),
  runtime: z
    .string()
    .trim()
    .min(1)
    .max(100)
    .optional()
    .describe("The agent program that drives it. Default: yours."),
  model: z
    .string()
    .trim()
    .min(1)
    .max(200)
    .optional()
    .describe("A model, as provider/model. Default: yours."),
  purpose: z
    .enum(["task", "review"])
    .optional()
    .describe("review: it examines and judges work. Default: task."),
  budget: z
    .number()
    .int()
    .min(1)
    .max(Number.MAX_SAFE_INTEGER)
    .optional()
    .describe(
      "The most it may cost, in millionths. It is taken from your own budget, if you have one; the rest comes back.",
    ),
  taskId: z
    .string()
    .min(1)
    .max(100)
    .optional()
    .describe(
      "A task of your board for it to do: the task is assigned to it, included in its prompt, and set to in_progress.",
    ),
  requirePlanApproval: z
    .boolean()
    .optional()
    .describe(
      "The child can read, ask and talk, but change nothing, until you (decide_plan) or your person have approved its plan. For work that is large, hard to undo or easy to misunderstand.",
    ),
  scopeKey: z
    .string()
    .min(1)
    .max(500)
    .regex(/^[^\p{Cc}\u2028\u2029]*$/u, "must be one line")
    .optional()
    .describe(
      "A conversation of your person that goes to this child from now on, such as user:{userId}:slack:{team}:{channel}:{thread}. It has its web conversation in any case.",
    ),
  enableMemory: z
    .boolean()
    .optional()
    .describe("Remember what it learns about the repository for later sessions."),
});

/**
 * Refuses a scope key that the child may not take: another person's conversation, or the web
 * conversation that every session has of its own.
 */
function requireScopeKey(ownerId: string | null, scopeKey: string): void {
  const [kind, userId, channel] = scopeKey.split(":");
  if (kind !== "user" || ownerId === null || userId !== ownerId || channel === undefined) {
    throw new Refusal(
      "forbidden",
      "foreign_scope_key",
      "scopeKey names a conversation of somebody else. Leave it out, or use one of your own person: user:{userId}:{channel}:{place}.",
    );
  }
  if (channel === "manual") {
    throw new Refusal(
      "invalid",
      "scope_key_taken",
      "The web conversation of a session always belongs to it. Leave scopeKey out.",
    );
  }
}

const WORKS =
  "It works on its own now. Call wait_for_event when you have nothing else to do; you are woken with its report.";
const PLANS_FIRST =
  "It looks around and presents a plan; it can change nothing until one is approved. Call wait_for_event: you are woken with the plan, and decide on it with decide_plan.";

/**
 * Refuses a repository name that the organisation's list does not have, since it cannot be cloned.
 * The refusal rolls the child back.
 */
function requireKnownRepo(repo: string | null): void {
  if (repo === null || storedRepositoryAddress(repo).kind !== "unknown") return;
  throw new Refusal(
    "not_found",
    "repo_not_found",
    `The organisation has no repository named ${JSON.stringify(repo)}. Call list_repos for the names, or give its full https:// address.`,
  );
}

/**
 * `publicUrl`: address at which people reach the server; without it, the result has only a path.
 */
export function createSpawnSession(publicUrl: string | undefined): Tool {
  const base = publicUrl?.replace(/\/+$/, "") ?? "";
  return defineTool({
    name: "spawn_session",
    makesSessions: true,
    aliases: ["create_session"],
    description:
      "Starts a child session: a separate agent with its own workspace that does one task and reports back to you. Use it for work on a repository, for anything long, and for things that can run in parallel; answer small questions yourself. You are woken when its turn ends, when it asks something and when it fails, so call wait_for_event afterwards instead of polling. To continue with an existing child, use send_message.",
    roles: ORCHESTRATORS,
    readOnly: false,
    target: ({ repo, repo_url }) => repo ?? repo_url ?? null,
    schema: spawnInput,
    async handle(work, caller, input) {
      const { repo, repo_url, persona, workspace, title, prompt, taskId, ...rest } = input;
      if (repo !== undefined && repo_url !== undefined && repo !== repo_url) {
        throw new Refusal(
          "invalid",
          "repo_ambiguous",
          "repo and repo_url name different repositories. Give one of them.",
        );
      }
      const { session, run } = caller;
      if (input.scopeKey !== undefined) requireScopeKey(session.row.owner_id, input.scopeKey);
      const task = taskId === undefined ? undefined : await requireSpawnable(work, session, taskId);
      const { child, persona: chosen } = await spawnChild(work, session, run.thread, {
        ...rest,
        prompt: task ? `${prompt}\n\n${taskBrief(task)}` : prompt,
        title: title ?? workspace,
        repo: repo ?? repo_url,
        personaSlug: persona,
      });
      requireKnownRepo(child.row.repo);
      if (task) await giveToChild(work, session, run.thread, task, child);
      const { id } = child.row;
      const next = rest.requirePlanApproval ? PLANS_FIRST : WORKS;
      return {
        output: {
          sessionId: id,
          status: "pending",
          url: `${base}/sessions/${id}`,
          ...chosen,
          next,
        },
        error: null,
      };
    },
  });
}

/**
 * Tools that look at a clone and publish its work. The runner performs them, not the sandbox: the
 * credential of the repository must not come near the agent.
 */
import type { GitState, Published } from "#execution/workspaces/workspace.ts";
import { gitStateInput, pullRequestInput, pushBranchInput } from "#protocol/tools.ts";
import type { RepositoryAccess } from "#protocol/workspaces.ts";
import { createTool, ToolProblem } from "../perform-tool.ts";
import type { RunnerTool, ToolContext } from "../tool.ts";
import { openPullRequest, type PullRequest } from "./pull-request.ts";

const SHORT_ID = 10;

export function createGitStateTool(): RunnerTool {
  return createTool("report_git_state", gitStateInput, async (context) => {
    const { clone, branch } = await cloneOf(context);
    const state = await clone.state(branch);
    return { output: describeState(state), error: null };
  });
}

export function createPushTool(): RunnerTool {
  return createTool("push_branch", pushBranchInput, async (context, { branch = null }) => {
    const { published, access } = await pushFrom(context, branch);
    const next = canOpenPullRequests(access)
      ? "Open a pull request for it with create_pull_request if that is wanted."
      : "Tell the person the name of the branch.";
    return { output: `${describePush(published)} ${next}`, error: null };
  });
}

export function createPullRequestTool(): RunnerTool {
  return createTool("create_pull_request", pullRequestInput, async (context, input) => {
    const { published, access, startedFrom } = await pushFrom(context, input.branch ?? null);
    const pushed = describePush(published);
    if (!canOpenPullRequests(access)) {
      return {
        output: `${pushed} There is no pull request: this repository is plain git without an API for that. Tell the person the name of the branch, so that they can open one by hand.`,
        error: null,
      };
    }
    const base = baseFor(published, input.base, startedFrom);
    try {
      const request = await openPullRequest(access, {
        title: input.title,
        body: input.body ?? "",
        head: published.branch,
        base,
        draft: input.draft ?? false,
        signal: context.signal,
      });
      return { output: `${pushed} ${describeRequest(request, base)}`, error: null };
    } catch (error) {
      if (!(error instanceof ToolProblem)) throw error;
      return { output: pushed, error: error.message };
    }
  });
}

async function cloneOf(context: ToolContext) {
  const { repository } = context;
  const clone = repository && (await context.workspace()).repository;
  if (!clone) throw new ToolProblem("This session has no repository, so there is nothing to push.");
  return { clone, ...repository };
}

async function pushFrom(context: ToolContext, branch: string | null) {
  const { clone, address, mayUsePath, branch: startedFrom, access: open } = await cloneOf(context);
  const access = await open();
  const { signal } = context;
  const order = { repository: address, mayUsePath, access, branch, signal };
  const published = await clone.publish(order);
  return { published, access, startedFrom };
}

type WithApi = RepositoryAccess & {
  apiUrl: string;
  credential: NonNullable<RepositoryAccess["credential"]>;
};
function canOpenPullRequests(access: RepositoryAccess | null): access is WithApi {
  return access?.provider === "github" && access.apiUrl !== null && access.credential !== null;
}

function baseFor(published: Published, asked: string | undefined, startedFrom: string | null) {
  const { branch, defaultBranch, branches } = published;
  const from = startedFrom === branch ? null : startedFrom;
  const base = asked ?? from ?? defaultBranch;
  if (base === branch)
    throw new ToolProblem(
      `A pull request cannot go from ${branch} into itself. Name another base.`,
    );
  if (base === null || !branches.has(base)) {
    throw new ToolProblem(
      `${describePush(published)} No pull request was opened: the repository has no branch ${base ?? "to merge into"}. Name an existing one as base.`,
    );
  }
  return base;
}

function describePush({ branch, commit, isNew }: Published): string {
  const id = commit.slice(0, SHORT_ID);
  return isNew ? `Pushed ${branch} at ${id}.` : `${branch} is already there, at ${id}.`;
}

function describeRequest({ url, number, isNew, isDraft }: PullRequest, base: string): string {
  const kind = isDraft ? "draft pull request" : "pull request";
  return isNew
    ? `Opened ${kind} #${number} into ${base}: ${url}\nTell the person this address.`
    : `${kind[0]?.toUpperCase()}${kind.slice(1)} #${number} is already open for this branch and has the new commits: ${url}\nIts title and text were not changed. Tell the person this address.`;
}

function describeState(state: GitState): string {
  const { branch, head, base, dirty, moreDirty, unpushed, moreUnpushed } = state;
  const short = ({ id, subject }: { id: string; subject: string }) =>
    `${id.slice(0, SHORT_ID)} ${subject}`;
  const lines = [
    `branch: ${branch ?? "none is checked out"}`,
    `head: ${head ? short(head) : "no commit yet"}`,
    base
      ? `base: ${base.branch}, ${base.ahead} ahead, ${base.behind} behind`
      : "base: the repository has no such branch",
    dirty.length === 0 ? "uncommitted: nothing" : "uncommitted:",
    ...dirty.map((file) => `  ${file}`),
    ...(moreDirty > 0 ? [`  … and ${moreDirty} more`] : []),
    unpushed.length === 0 ? "unpushed: nothing" : "unpushed:",
    ...unpushed.map((commit) => `  ${short(commit)}`),
    ...(moreUnpushed ? ["  … and more"] : []),
  ];
  return lines.join("\n");
}

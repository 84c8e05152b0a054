/** Request for a new session, and the settings that the server makes of it. */
import { Refusal } from "#base/refusal.ts";
import { isBranchName } from "#protocol/names/branch-name.ts";
import {
  type AddressReading,
  addressText,
  type RepositoryAddress,
  readRepositoryAddress,
  storedRepositoryAddress,
} from "#protocol/names/repository-address.ts";
import type { RunnerRequirements } from "#protocol/runs.ts";
import {
  isOrchestrator,
  type QueueMode,
  type SessionKind,
  TRIAL_RUNTIMES,
} from "#protocol/sessions.ts";
import { may, type Principal, principalKey, sessionResource } from "../requests/principal.ts";
import type { SessionRow } from "../schema.ts";
import type { KeptFields, Work } from "../work.ts";
import type { NewSession } from "./create-session.ts";
import { findSession } from "./queries.ts";
import type { SessionDefaults } from "./session-defaults.ts";

export interface SessionRequest extends KeptFields {
  title?: string | undefined;
  kind?: SessionKind | undefined;
  purpose?: "task" | "review" | undefined;
  runtime?: string | undefined;
  model?: string | undefined;
  /** Name in the organisation's list, or an address, as typed; parsed here. */
  repo?: string | undefined;
  branch?: string | undefined;
  parentSessionId?: string | undefined;
  scopeKey?: string | undefined;
  queueMode?: QueueMode | undefined;
  instructions?: string | undefined;
  budget?: number | undefined;
  /** Requirements of its runs for their runner, also for later prompts. */
  demands?: RunnerRequirements | undefined;
  projectDir?: string | undefined;
  agentName?: string | undefined;
  prompt?: string | undefined;
  /** True when the parent is named only to be notified of the end of the session's run. */
  isCallback?: boolean | undefined;
  /** True for an agent's request when a person asked for the persona in their own words. */
  isPersonaAsked?: boolean | undefined;
}

/** Settings of a new session: as requested, else the parent's, else the server's. */
export async function newSession(
  work: Work,
  principal: Principal,
  id: string,
  request: SessionRequest,
  defaults: SessionDefaults,
): Promise<NewSession> {
  if (request.kind && isOrchestrator({ kind: request.kind })) {
    throw new Refusal(
      "invalid",
      "kind_not_allowed",
      "Orchestrators are created by the server. Use kind task or review.",
    );
  }
  const parent = await parentOf(work, principal, request.parentSessionId);
  const place = placeOf(principal, request, parent);
  refuseTrialRuntime(principal, request, parent);
  if (request.branch !== undefined && !isBranchName(request.branch)) throw branchInvalid();
  const requested = { ...DEFAULT_REQUEST, ...withoutUndefined(request) };
  return {
    id,
    orgId: principal.orgId,
    ownerId: ownerOf(principal),
    createdBy: principalKey(principal),
    parent,
    title: requested.title,
    ...kindOf(request),
    requested: {
      runtime: requested.runtime !== null,
      model: requested.model !== null,
      persona:
        requested.personaSlug !== undefined &&
        (principal.kind !== "session" || requested.isPersonaAsked),
      callback: requested.isCallback,
      personaSlug: requested.personaSlug,
      enableMemory: requested.enableMemory,
      requirePlanApproval: requested.requirePlanApproval,
    },
    runtime: requested.runtime ?? parent?.runtime ?? defaults.runtime,
    model: requested.model ?? parent?.model ?? defaults.model,
    ...place,
    branch: requested.branch,
    projectDir: requested.projectDir,
    scopeKey: requested.scopeKey,
    queueMode: requested.queueMode,
    instructions: requested.instructions,
    budgetMicros: requested.budget,
    demands: requested.demands,
    agentName: requested.agentName,
  };
}

/** Kind and purpose mean the same; a request whose two values differ is refused. */
function kindOf({ kind, purpose }: SessionRequest): Pick<NewSession, "kind" | "purpose"> {
  const chosen = purpose ?? (kind === "review" ? "review" : "task");
  if (kind !== undefined && kind !== chosen) {
    throw new Refusal(
      "invalid",
      "purpose_conflict",
      `kind is ${kind} and purpose is ${chosen}. Give one of them, or the same value in both.`,
    );
  }
  return { kind: chosen, purpose: chosen };
}

interface RequestedPlace {
  repo: RepositoryAddress | null;
  mayUsePath: boolean;
}

/**
 * Parses the repository and decides if the session may use a folder of a runner's machine. Its
 * files may be anybody's, and a repository by its path is such a folder too: an admin may name one,
 * and a child may use the one that its parent may use.
 */
function placeOf(
  principal: Principal,
  { projectDir, repo: text }: SessionRequest,
  parent: SessionRow | null,
): RequestedPlace {
  const reading = text === undefined ? undefined : readRepositoryAddress(text);
  const isLocal = isLocalPlace(reading);
  const mayName = may(principal, "session.use_folder", { orgId: principal.orgId });
  const inherits = parent?.may_use_path === 1 && text !== undefined && isRepoOf(parent, reading);
  if (projectDir !== undefined || (isLocal && !inherits)) {
    if (!mayName) throw folderNotAllowed();
  }
  if (reading?.problem) {
    throw new Refusal("invalid", reading.problem.code, reading.problem.message);
  }
  return { repo: reading?.address ?? null, mayUsePath: projectDir !== undefined || isLocal };
}

function isLocalPlace(reading: AddressReading | undefined): boolean {
  if (!reading) return false;
  return reading.problem ? reading.problem.looksLocal : reading.address.kind === "path";
}

function isRepoOf({ repo }: SessionRow, reading: AddressReading | undefined): boolean {
  if (repo === null || !reading || reading.problem) return false;
  return addressText(storedRepositoryAddress(repo)) === addressText(reading.address);
}

function folderNotAllowed(): Refusal {
  return new Refusal(
    "forbidden",
    "folder_not_allowed",
    "Only an admin may let a session work in a folder on a runner's machine. Use a repository's web address, or ask an admin.",
  );
}

/** A trial runtime acts on its prompt without a model, so nobody's rules for agents hold for it. */
function refuseTrialRuntime(
  principal: Principal,
  { runtime }: SessionRequest,
  parent: SessionRow | null,
): void {
  if (principal.kind !== "session" || runtime === undefined) return;
  if (!TRIAL_RUNTIMES.includes(runtime) || runtime === parent?.runtime) return;
  throw new Refusal(
    "forbidden",
    "runtime_not_allowed",
    `${runtime} is for trying things out. Leave runtime out to use your own.`,
  );
}

function branchInvalid(): Refusal {
  return new Refusal(
    "invalid",
    "branch_invalid",
    "This is not a valid branch name. Check its spelling, or leave it out to start from the default branch.",
  );
}

const DEFAULT_REQUEST = {
  title: null as string | null,
  runtime: null as string | null,
  model: null as string | null,
  branch: null as string | null,
  scopeKey: null as string | null,
  queueMode: "followup" as QueueMode,
  instructions: null as string | null,
  budget: null as number | null,
  demands: null as RunnerRequirements | null,
  projectDir: null as string | null,
  agentName: null as string | null,
  isCallback: false,
  isPersonaAsked: false,
};

function withoutUndefined({
  repo: _parsed,
  kind: _kind,
  purpose: _purpose,
  ...request
}: SessionRequest): Partial<typeof DEFAULT_REQUEST> & KeptFields {
  return Object.fromEntries(Object.entries(request).filter(([, value]) => value !== undefined));
}

function ownerOf(principal: Principal): string | null {
  if (principal.kind === "user") return principal.userId;
  return principal.kind === "session" ? principal.ownerId : null;
}

async function parentOf(
  work: Work,
  principal: Principal,
  id: string | undefined,
): Promise<SessionRow | null> {
  if (id === undefined) return null;
  const parent = await findSession(work.tx, id);
  if (!parent || !mayParent(principal, parent)) {
    throw new Refusal(
      "not_found",
      "supervisor_not_found",
      "No such parent session. Check parentSessionId, or leave it out.",
    );
  }
  return parent;
}

/** People put children under sessions that they manage, an agent only under its own. */
function mayParent(principal: Principal, parent: SessionRow): boolean {
  if (principal.kind === "session") return principal.sessionId === parent.id;
  return may(principal, "session.manage", sessionResource(parent));
}

/**
 * The workspace of one turn: made when a tool first needs it, and checked at the end for the turn's
 * changes. A turn that only talks has none.
 */
import { Refusal } from "#base/refusal.ts";
import { filesOf } from "#execution/tools/files/confined-files.ts";
import type { GrowingRedactor } from "#execution/tools/output/redact.ts";
import type { SessionRepository } from "#execution/tools/tool.ts";
import { applyChanges } from "#execution/workspaces/snapshots/apply-changes.ts";
import type { Workspace, Workspaces } from "#execution/workspaces/workspace.ts";
import { type JournalItem, MAX_SHOWN_FILES } from "#protocol/events.ts";
import { DISK_LOW } from "#protocol/reports/disk-report.ts";
import { SANDBOX_UNAVAILABLE } from "#protocol/reports/sandboxes.ts";
import type { GitIdentity, RepositoryAccess, WorkspaceChanges } from "#protocol/workspaces.ts";
import type { Turn } from "../runtime.ts";
import { isReadOnly, mayHaveChanged } from "./calls/calls.ts";
import { type SetUpCommand, setUp } from "./set-up.ts";

/** Media types that a browser can show, by file extension. */
const SHOWN_TYPES: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  htm: "text/html; charset=utf-8",
  css: "text/css; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  mjs: "text/javascript; charset=utf-8",
  json: "application/json",
  svg: "image/svg+xml",
  png: "image/png",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  gif: "image/gif",
  webp: "image/webp",
  md: "text/plain; charset=utf-8",
  txt: "text/plain; charset=utf-8",
  csv: "text/plain; charset=utf-8",
};
const MAX_SHOWN_BYTES = 1_000_000;
const MAX_NAMED = 20;

export class TurnWorkspace {
  readonly #turn: Turn;
  readonly #workspaces: Workspaces;
  #opened: Promise<Workspace> | undefined;
  #isTouched = false;
  #isCarried = false;

  readonly #redactor: Pick<GrowingRedactor, "add">;

  constructor(turn: Turn, workspaces: Workspaces, redactor: Pick<GrowingRedactor, "add">) {
    this.#turn = turn;
    this.#workspaces = workspaces;
    this.#redactor = redactor;
  }

  /** Repository of the session, if it works on one. */
  get repository(): SessionRepository | undefined {
    const { repository, mayUsePath, branch, projectDir } = this.#turn.assignment;
    if (repository === null || projectDir !== null) return undefined;
    return { address: repository, mayUsePath, branch, access: () => this.#access() };
  }

  /** Treats the credential as a secret from here on, in everything this runner shows. */
  async #access(): Promise<RepositoryAccess | null> {
    const access = await this.#turn.repository();
    if (access?.credential) this.#redactor.add([access.credential.password]);
    return access;
  }

  /** True if the session needs files before its first tool call. */
  get isWanted(): boolean {
    const { repository, projectDir } = this.#turn.assignment;
    return repository !== null || projectDir !== null;
  }

  /** Files that are put into the workspace before the agent begins. */
  given: readonly { path: string; content: string }[] = [];
  /** Command to run once, when the workspace is new. */
  setup: SetUpCommand | null = null;
  /** Author of the agent's commits. */
  identity: GitIdentity | null = null;
  /** Reason why there can be no workspace: a turn that needs one makes no sense without it. */
  refusal: Refusal | undefined;

  /** Opens the workspace for a tool, which may change it unless it only reads. */
  openFor(tool: string): Promise<Workspace> {
    if (!isReadOnly(tool)) this.#isTouched = true;
    return this.open();
  }

  /** True if this attempt or an earlier one may have left changes to record. */
  get mayHaveChanged(): boolean {
    return !this.refusal && (this.#isTouched || this.#isLeftBehind);
  }

  async open(): Promise<Workspace> {
    this.#opened ??= this.#openOrRefuse();
    const opened = await this.#opened;
    if (!opened.isStale()) return opened;
    this.#opened = this.#openOrRefuse();
    return this.#opened;
  }

  async #openOrRefuse(): Promise<Workspace> {
    try {
      return await this.#open();
    } catch (error) {
      // A machine without a sandbox or without room may have it the next time.
      this.#opened = undefined;
      // A stopped turn has not failed for this reason.
      const isFinal = error instanceof Refusal && !isTemporary(error);
      if (isFinal && !this.#turn.signal.aborted) this.refusal = error;
      throw error;
    }
  }

  /** Reason why commands and files cannot be worked with now; null when they can. */
  sandboxRefusal(): Refusal | null {
    return this.#workspaces.sandboxRefusal();
  }

  isSandboxed(): boolean {
    return this.#workspaces.isSandboxed();
  }

  async #open(): Promise<Workspace> {
    const { sessionId, ownerId, repository, branch, projectDir, mayUsePath, promptId } =
      this.#turn.assignment;
    const workspace = await this.#workspaces.open({
      sessionId,
      ownerId,
      repository,
      branch,
      projectDir,
      mayUsePath,
      access: () => this.#access(),
      isFresh: this.#mustCarry,
      identity: this.identity,
      signal: AbortSignal.any([this.#turn.signal, this.#turn.killed]),
    });
    // Done before binding: an attempt that is lost meanwhile begins with another new workspace.
    if (this.#mustCarry) await this.#putCarried(workspace);
    await this.#turn.bind({
      executorSessionId: null,
      executorType: "native",
      executorProfile: null,
      projectDir: null,
      workspaceId: workspace.id,
    });
    await this.#putGiven(workspace);
    if (this.setup !== null) await setUp(this.#turn, workspace, this.setup);
    try {
      await workspace.mark(promptId);
    } catch (error) {
      // The work matters more than its diff, which will be missing.
      if (error instanceof Refusal) throw error;
      this.#turn.log.warn({ err: error }, "where the turn begins could not be marked");
    }
    return workspace;
  }

  /** True until the changes of a workspace that the session has left are in the new one. */
  get #mustCarry(): boolean {
    return this.#turn.assignment.carried !== undefined && !this.#isCarried;
  }

  async #putCarried(workspace: Workspace): Promise<void> {
    const { assignment, signal, killed } = this.#turn;
    const files = assignment.carried?.files ?? [];
    const stop = AbortSignal.any([signal, killed]);
    const failed = await applyChanges(workspace.sandbox, files, stop);
    if (stop.aborted) throw new Error("The turn was stopped before recorded changes were applied.");
    this.#isCarried = true;
    if (failed.length === 0) return;
    const shown = failed.slice(0, MAX_NAMED).map((path) => JSON.stringify(path));
    const more = failed.length > shown.length ? `, and ${failed.length - shown.length} more` : "";
    await this.#turn.append({
      type: "notice",
      entryId: this.#turn.entryId(),
      text: `[workspace] Recorded changes that no longer fit the files were left out: ${shown.join(", ")}${more}.`,
      forModel: true,
    });
  }

  /** Writes the session's given files anew, whatever an agent made of them since. */
  async #putGiven(workspace: Workspace): Promise<void> {
    const files = filesOf(workspace);
    for (const { path, content } of this.given) {
      try {
        await files.replace(path, content);
      } catch (error) {
        this.#turn.log.warn({ err: error, path }, "a file of the persona could not be written");
      }
    }
  }

  /** True if earlier attempts may have changed the workspace on this machine. */
  get #isLeftBehind(): boolean {
    const { assignment, journaled } = this.#turn;
    return mayHaveChanged(journaled) && this.#workspaces.holds(assignment.sessionId);
  }

  /** Changes of the turn so far, for the journal; empty when no file has changed. */
  async changes(): Promise<JournalItem[]> {
    if (!this.mayHaveChanged) return [];
    try {
      // A resumed attempt may have done nothing itself: the changes of earlier attempts count too.
      const workspace = await this.open();
      const { turn, all } = await workspace.changes(this.#turn.assignment.promptId);
      if (turn.files.length === 0) return [];
      return [
        {
          type: "workspace_changed",
          entryId: this.#turn.entryId(),
          turn,
          all,
          files: await this.#shown(workspace, turn),
          diskBytes: await workspace.diskBytes(),
        },
      ];
    } catch (error) {
      this.#turn.log.warn({ err: error }, "what the turn changed could not be found out");
      return [];
    }
  }

  async #shown(workspace: Workspace, { files }: WorkspaceChanges) {
    const shown: (JournalItem & { type: "workspace_changed" })["files"] = [];
    for (const { path, status } of files) {
      const mediaType = SHOWN_TYPES[path.split(".").at(-1)?.toLowerCase() ?? ""];
      if (status === "deleted" || mediaType === undefined) continue;
      const data = await readSmall(workspace, path);
      if (!data) continue;
      const sha256 = await this.#turn.keepBlob({ mediaType, data: data.toString("base64") });
      shown.push({ path, sha256, mediaType, size: data.length });
      if (shown.length === MAX_SHOWN_FILES) break;
    }
    return shown;
  }
}

/** True for a refusal that passes by itself: no sandbox yet, or no room on the disk. */
export function isTemporary({ code }: Refusal): boolean {
  return code === SANDBOX_UNAVAILABLE || code === DISK_LOW;
}

async function readSmall(workspace: Workspace, path: string): Promise<Buffer | null> {
  try {
    const opened = await filesOf(workspace).open(path);
    if (opened.kind === "folder") {
      await opened.folder.handle.close();
      return null;
    }
    try {
      return opened.stats.size > MAX_SHOWN_BYTES ? null : await opened.handle.readFile();
    } finally {
      await opened.handle.close();
    }
  } catch {
    // The file is gone again, or no plain file: it is not shown.
    return null;
  }
}

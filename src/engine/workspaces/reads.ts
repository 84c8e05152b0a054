/** A session's workspace as people see it: changes by turn, and files that can be shown. */
import { notFound } from "#base/refusal.ts";
import type { Reader } from "#base/store/index.ts";
import type { SessionChanges, ShownFile, WorkspaceChanges } from "#protocol/workspaces.ts";
import type { Principal } from "../requests/principal.ts";
import { findRunner } from "../runs/runners/runner-queries.ts";
import { diskOf } from "../runs/runners/runners.ts";
import { findBlob } from "../sessions/log/blob-queries.ts";
import { isoTime } from "../sessions/log/event-view.ts";
import { findSession } from "../sessions/queries.ts";
import { requireReadable, type SessionAccess } from "../sessions/session-access.ts";
import type { Engine } from "../work.ts";
import {
  findFile,
  findTurnChanges,
  findWorkspace,
  listChangedTurns,
  listFiles,
} from "./queries.ts";

const MAX_FILES = 500;
const NOTHING: WorkspaceChanges = { files: [], more: 0, additions: 0, deletions: 0 };

export function createWorkspaceReads({ store, clock }: Engine) {
  const readable = async (
    reader: Reader,
    principal: Principal,
    id: string,
  ): Promise<SessionAccess> =>
    requireReadable(reader, principal, await findSession(reader, id), clock.now());

  return {
    /** All changes since the workspace was made, or those of one turn. */
    changes: (
      principal: Principal,
      sessionId: string,
      promptId: string | undefined,
    ): Promise<SessionChanges> =>
      store.read(async (reader) => {
        const { id } = (await readable(reader, principal, sessionId)).session;
        const workspace = await findWorkspace(reader, id);
        const turns = await listChangedTurns(reader, id);
        const text =
          promptId === undefined
            ? workspace?.changes
            : (await findTurnChanges(reader, id, promptId))?.changes;
        return {
          ...(text ? (JSON.parse(text) as WorkspaceChanges) : NOTHING),
          turns: turns.map((turn) => ({ promptId: turn.prompt_id, at: isoTime(turn.created_at) })),
          shown: (await listFiles(reader, id, MAX_FILES)).map(shownFile),
          diskBytes: workspace?.bytes ?? 0,
          diskQuotaBytes: workspace ? await quotaOf(reader, workspace) : null,
          updatedAt: workspace ? isoTime(workspace.updated_at) : null,
        };
      }),

    /**
     * Refuses a caller who may not read the session; `until` is the end of the access, null for
     * none.
     */
    async requireReadable(
      principal: Principal,
      sessionId: string,
    ): Promise<{ until: number | null }> {
      const { until } = await store.read((reader) => readable(reader, principal, sessionId));
      return { until };
    },

    /** A file as it was at the end of the last turn that changed it. The caller was checked before. */
    file: (sessionId: string, path: string) =>
      store.read(async (reader) => {
        const file = await findFile(reader, sessionId, path);
        const blob = file && (await findBlob(reader, sessionId, file.sha256));
        if (!blob) throw notFound("file");
        return { mediaType: file.media_type, data: blob.data };
      }),
  };
}

/** Quota of the machine that holds the workspace. */
async function quotaOf(
  reader: Reader,
  { runner_id }: { runner_id: string },
): Promise<number | null> {
  const runner = await findRunner(reader, runner_id);
  return (runner && diskOf(runner)?.quota.bytes) ?? null;
}

function shownFile(row: {
  path: string;
  media_type: string;
  size: number;
  updated_at: number;
}): ShownFile {
  return {
    path: row.path,
    mediaType: row.media_type,
    size: row.size,
    updatedAt: isoTime(row.updated_at),
  };
}

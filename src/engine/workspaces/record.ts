/** Records the reports of runners about workspaces: their place, and the changes of a turn. */
import { cleanJson, cleanText } from "#base/text/clean-text.ts";
import type { JournalItem } from "#protocol/events.ts";
import { requirementsKey, requirementsOf } from "../runs/claims/fit.ts";
import type { RunRow } from "../schema.ts";
import type { Work } from "../work.ts";
import {
  findWorkspace,
  forgetFiles,
  saveFile,
  saveTurnChanges,
  upsertWorkspace,
} from "./queries.ts";

/**
 * Sends the session's later turns to the machine that holds its files. False when they go there
 * already.
 */
export async function keepWorkspace(work: Work, run: RunRow, id: string): Promise<boolean> {
  if (run.runner_id === null) return false;
  run.pinned_runner_id = run.runner_id;
  run.demand_key = requirementsKey(requirementsOf(run));
  const known = await findWorkspace(work.tx, run.session_id);
  await upsertWorkspace(work.tx, {
    id,
    org_id: run.org_id,
    session_id: run.session_id,
    runner_id: run.runner_id,
    bytes: known?.bytes ?? 0,
    changes: known?.changes ?? null,
    offline_at: null,
    left_at: null,
    updated_at: work.now,
    created_at: known?.created_at ?? work.now,
  });
  return known?.id !== id || known.runner_id !== run.runner_id;
}

export async function keepChanges(
  work: Work,
  run: RunRow,
  item: Extract<JournalItem, { type: "workspace_changed" }>,
): Promise<void> {
  const { session_id, prompt_id, org_id } = run;
  const workspace = await findWorkspace(work.tx, session_id);
  if (!workspace) return;
  await upsertWorkspace(work.tx, {
    ...workspace,
    bytes: item.diskBytes,
    changes: cleanJson(item.all),
    updated_at: work.now,
  });
  await saveTurnChanges(work.tx, {
    session_id,
    prompt_id,
    org_id,
    changes: cleanJson(item.turn),
    created_at: work.now,
  });
  const gone = item.turn.files.flatMap(({ status, path, from }) =>
    status === "deleted" ? [path] : from === null ? [] : [from],
  );
  await forgetFiles(work.tx, session_id, gone.map(cleanText));
  for (const { path, sha256, mediaType, size } of item.files) {
    await saveFile(work.tx, {
      session_id,
      path: cleanText(path),
      org_id,
      sha256,
      media_type: cleanText(mediaType),
      size,
      updated_at: work.now,
    });
  }
}

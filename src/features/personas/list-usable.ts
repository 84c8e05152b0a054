/** The personas an agent may choose from for others: those its person could have named. */
import type { Reader } from "#base/store/index.ts";
import { findDefaultId, listPersonas } from "./queries.ts";

/** What it is told, to choose by: no instructions and no rules. */
export interface UsablePersona {
  slug: string;
  name: string;
  description: string | null;
  isDefault: boolean;
  /** Null: the one that sessions have anyway. */
  model: string | null;
  runtime: string | null;
}

const LIMIT = 100;

/** `userId`: for whom it works; null: for nobody in particular, who sees what is shared. */
export async function listUsablePersonas(
  reader: Reader,
  orgId: string,
  userId: string | null,
): Promise<UsablePersona[]> {
  const rows = await listPersonas(reader, { orgId, userId: userId ?? "", limit: LIMIT });
  const defaultId = await findDefaultId(reader, orgId);
  return rows.map(({ id, slug, name, description, model, runtime }) => ({
    slug,
    name,
    description,
    isDefault: id === defaultId,
    model,
    runtime,
  }));
}

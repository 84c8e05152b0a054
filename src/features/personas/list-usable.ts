/** The personas an agent may choose from for others: those its person could have named. */
import type { Reader } from "#base/store/index.ts";
import { countListed, findDefaultId, listPersonas } from "./queries.ts";

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
  q?: string,
): Promise<{ personas: UsablePersona[]; more: number }> {
  const filter = { orgId, userId: userId ?? "", q, limit: LIMIT };
  const rows = await listPersonas(reader, filter);
  const defaultId = await findDefaultId(reader, orgId);
  const personas = rows.map(({ id, slug, name, description, model, runtime }) => ({
    slug,
    name,
    description,
    isDefault: id === defaultId,
    model,
    runtime,
  }));
  const isAll = rows.length < LIMIT;
  return { personas, more: isAll ? 0 : (await countListed(reader, filter)) - rows.length };
}

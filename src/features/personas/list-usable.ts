/** Lists the personas that an agent may choose for others: those that its owner could have named. */
import type { Reader } from "#base/store/index.ts";
import { countListed, findDefaultId, listPersonas } from "./queries.ts";

/** Persona without its instructions and rules, for an agent to choose from. */
export interface UsablePersona {
  slug: string;
  name: string;
  description: string | null;
  isDefault: boolean;
  /** Null: the default model of sessions. */
  model: string | null;
  runtime: string | null;
}

const LIMIT = 100;

/** `userId`: owner of the agent; null: no owner, so only shared personas are listed. */
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

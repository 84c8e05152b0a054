/**
 * Creates the built-in personas once for each org. Later changes by people stay: an edited persona is
 * not overwritten, a deleted one does not come back.
 */
import { command, type Engine, type Work } from "#engine/index.ts";
import { SYSTEM } from "../access.ts";
import { newPersonaSchema } from "../contract.ts";
import { freeSlug } from "../names.ts";
import { listOrgsWithout, listTakenSlugs, lockOrg, saveShipped } from "../queries.ts";
import { createPersona } from "../save-persona.ts";
import { shippedPersonas } from "../shipped/index.ts";
import type { ShippedPersona } from "../shipped/shipped-persona.ts";

const ALL = JSON.stringify(shippedPersonas.map(({ slug }) => slug));

/** Creates missing built-in personas in every org. Safe to run at any time, on every server. */
export async function shipPersonas(engine: Engine): Promise<void> {
  const orgs = await engine.store.read((reader) => listOrgsWithout(reader, ALL));
  for (const orgId of orgs) await shipTo(engine, orgId);
}

async function shipTo(engine: Engine, orgId: string): Promise<void> {
  const minted = shippedPersonas.map((persona) => ({
    persona,
    ids: { id: engine.ids.mint("psn"), versionId: engine.ids.mint("psv") },
  }));
  await command(engine, async (work) => {
    const known = new Set(JSON.parse((await lockOrg(work.tx, orgId)).shipped) as string[]);
    for (const { persona, ids } of minted) {
      if (known.has(persona.slug)) continue;
      const slug = await slugFor(work, orgId, persona);
      const wanted = newPersonaSchema.parse({ ...persona, slug, visibility: "shared" });
      await createPersona(work, SYSTEM, orgId, ids, wanted);
    }
    await saveShipped(work.tx, orgId, ALL);
  });
}

async function slugFor({ tx }: Work, orgId: string, { slug }: ShippedPersona): Promise<string> {
  const taken = await listTakenSlugs(tx, orgId, slug, slug);
  return taken.has(slug) ? freeSlug(slug, (other) => taken.has(other)) : slug;
}

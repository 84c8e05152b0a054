/**
 * Personas: instructions for an agent, as versions of files and settings. A session pins one version;
 * editing a persona does not change running sessions.
 */
import type { Feature } from "#engine/index.ts";
import { createSkillFetcher } from "./import/import-skills.ts";
import { purgePrivate, removeForgotten } from "./remove-persona.ts";
import { personaRoutes } from "./routes.ts";
import { personaMigrations } from "./schema.ts";
import { personasToFind } from "./searchable.ts";
import { shipPersonas } from "./skills/ship.ts";
import { skillRoutes } from "./skills/skill-routes.ts";
import { describeSessions } from "./versions/pinned.ts";

const SHIP_EVERY_MS = 60_000;
const FORGET_EVERY_MS = 60 * 60_000;

/** Creates the feature. `searchPath`: the PATH in which git is found. */
export function createPersonas({ searchPath }: { searchPath: string }): Feature {
  return {
    name: "personas",
    migrations: personaMigrations,
    routes: [...personaRoutes, ...skillRoutes(createSkillFetcher({ searchPath }))],
    searchable: [personasToFind],
    describeSessions,
    sessionFilters: { persona: "persona_pins.slug" },
    sessionTables: ["persona_pins"],
    purgePerson: purgePrivate,
    sweeps: [
      // Serves orgs that are created later; existing orgs get their personas at the start.
      { name: "personas.ship", everyMs: SHIP_EVERY_MS, run: shipPersonas },
      { name: "personas.forget", everyMs: FORGET_EVERY_MS, run: removeForgotten },
    ],
  };
}

export { listUsablePersonas } from "./list-usable.ts";
export {
  findSharedPersona,
  type PersonaSelection,
  type ResolvedPersona,
  readPinnedPersona,
  resolvePersona,
} from "./resolve.ts";
export { shipPersonas } from "./skills/ship.ts";
export { findPinned, hasPersona, pinPersona } from "./versions/pinned.ts";

/** Builds the API views of personas and versions. */
import type { UserPrincipal } from "#features/policy/index.ts";
import { mayEdit } from "./access.ts";
import type { Content } from "./content.ts";
import type { Persona, PersonaSummary, Version, VersionSummary } from "./contract.ts";
import type { PersonaRow, PersonaVersionRow } from "./schema.ts";

const iso = (at: number) => new Date(at).toISOString();

export function summaryView(
  person: UserPrincipal,
  row: PersonaRow,
  defaultId: string | null,
): PersonaSummary {
  return {
    id: row.id,
    slug: row.slug,
    name: row.name,
    description: row.description,
    icon: row.icon,
    visibility: row.visibility,
    isDefault: row.id === defaultId,
    model: row.model,
    runtime: row.runtime,
    enableMemory: row.enable_memory === null ? null : row.enable_memory === 1,
    version: row.version,
    createdBy: row.created_by,
    mayEdit: mayEdit(person, row),
    createdAt: iso(row.created_at),
    updatedAt: iso(row.updated_at),
    archivedAt: row.archived_at === null ? null : iso(row.archived_at),
  };
}

export function personaView(
  person: UserPrincipal,
  row: PersonaRow,
  defaultId: string | null,
  { toolPolicy, files, skills }: Content,
): Persona {
  return { ...summaryView(person, row, defaultId), toolPolicy, files, skills };
}

export function versionSummaryView(row: Omit<PersonaVersionRow, "manifest">): VersionSummary {
  return {
    id: row.id,
    version: row.number,
    sha256: row.sha256,
    createdBy: row.created_by,
    createdAt: iso(row.created_at),
  };
}

export function versionView(row: PersonaVersionRow, content: Content): Version {
  return { ...versionSummaryView(row), ...content };
}

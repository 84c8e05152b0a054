/** Where the personas of one's own organisation are. */
import type { Api } from "#surfaces/cli/client/api.ts";

/** With a name (an id or a slug): of that persona. */
export async function personasPath(api: Api, name?: string): Promise<string> {
  const { org } = await api.call<{ org: { id: string } }>("/api/me");
  const base = `/api/orgs/${encodeURIComponent(org.id)}/personas`;
  return name === undefined ? base : `${base}/${encodeURIComponent(name)}`;
}

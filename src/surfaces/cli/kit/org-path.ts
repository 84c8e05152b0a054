/** Where the organisation of who calls is. */
import type { Api } from "../client/api.ts";

export async function orgPath(api: Api): Promise<string> {
  const me = await api.call<{ org: { id: string } }>("/api/me");
  return `/api/orgs/${encodeURIComponent(me.org.id)}`;
}

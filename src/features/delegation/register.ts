/** The register of live children: what a parent must still know when its history was summed up. */
import type { Reader } from "#base/store/index.ts";
import type { SessionRow } from "#engine/index.ts";
import { lastLine, viewChild } from "./children.ts";
import { listChildSessions } from "./queries.ts";

export async function childRegister(reader: Reader, session: SessionRow): Promise<string | null> {
  if (session.parent_session_id !== null) return null;
  const lines: string[] = [];
  for (const row of await listChildSessions(reader, session.id)) {
    if (row.lifecycle !== "active" && row.lifecycle !== "hibernated") continue;
    const { id, title, repo } = row;
    const where = repo === null ? "" : ` on ${repo}`;
    const doing = await lastLine(reader, id);
    const what = doing === null || doing === "" ? "" : `: ${doing}`;
    lines.push(
      `- ${JSON.stringify(title ?? id)} (${id}), ${viewChild(row).activity}${where}${what}`,
    );
  }
  return lines.length === 0 ? null : `[Your child sessions now]\n${lines.join("\n")}`;
}

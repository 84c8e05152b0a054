import type { Session } from "#protocol/sessions.ts";

/**
 * Describes a session's activity with its wait, such as `waiting (runner)`; its lifecycle when it has ended.
 */
export function activityWords({
  activity,
  lifecycle,
  waitingFor,
}: Pick<Session, "activity" | "lifecycle"> & Partial<Pick<Session, "waitingFor">>): string {
  if (lifecycle === "archived" || lifecycle === "terminated") return lifecycle;
  return waitingFor ? `${activity} (${waitingFor.kind})` : activity;
}

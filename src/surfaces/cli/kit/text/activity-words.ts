import type { Session } from "#protocol/sessions.ts";

/** A session's activity with what it waits for, such as `waiting (runner)`; its lifecycle when it is over. */
export function activityWords({
  activity,
  lifecycle,
  waitingFor,
}: Pick<Session, "activity" | "lifecycle"> & Partial<Pick<Session, "waitingFor">>): string {
  if (lifecycle === "archived" || lifecycle === "terminated") return lifecycle;
  return waitingFor ? `${activity} (${waitingFor.kind})` : activity;
}

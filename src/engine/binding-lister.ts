import type { Reader } from "#base/store/index.ts";
import type { Session } from "#protocol/sessions.ts";

/** Finds the conversations in channels that lead to these sessions, by session. */
export type BindingLister = (
  reader: Reader,
  sessionIds: readonly string[],
) => Promise<ReadonlyMap<string, Session["channelBindings"]>>;

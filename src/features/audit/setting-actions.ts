/** Actions of the trail for a change, by area. */
import type { ChangeEntry } from "./record.ts";

const PEOPLE: ReadonlySet<string> = new Set(["member", "invitation"]);
const ACCESS: ReadonlySet<string> = new Set([
  "api_key",
  "browser",
  "linked_account",
  "owner_key",
  "password",
  "runner",
  "runner_token",
  "sign_in_link",
]);
const SIGN_IN: Readonly<Record<string, ChangeEntry["action"]>> = {
  opened: "signed_in",
  failed: "sign_in_failed",
  locked: "sign_in_locked",
};

/** An unknown area counts as a setting, so that a new feature has nothing to add. */
export function actionOf(area: string, change: string): ChangeEntry["action"] {
  if (area === "orchestration" || area === "agent") return "orchestrated";
  if (area === "sign_in") return SIGN_IN[change] ?? "access_changed";
  if (PEOPLE.has(area)) return "person_changed";
  return ACCESS.has(area) ? "access_changed" : "setting_changed";
}

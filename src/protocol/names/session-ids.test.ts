import { expect, it } from "vitest";
import { resolveSessionId } from "./session-ids.ts";

it.each([
  ["orchestrator", "orchestrator:usr_1"],
  ["orchestrator:usr_2:1699999999", "orchestrator:usr_2"],
  ["orchestrator:org:org_1", "orchestrator:org:org_1"],
  ["web:usr_2", "orchestrator:usr_2"],
  ["cli:usr_1", "orchestrator:usr_1"],
  ["slack:usr_1", "orchestrator:usr_1"],
  ["slack:T1", "slack:T1"],
  ["web:usr_2:more", "web:usr_2:more"],
  ["ses_1", "ses_1"],
])("%s means %s", (given, id) => {
  expect(resolveSessionId(given, "usr_1")).toBe(id);
});

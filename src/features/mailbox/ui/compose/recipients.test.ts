import { describe, expect, it } from "vitest";
import type { Member } from "#features/orgs/contract.ts";
import type { Session } from "#protocol/sessions.ts";
import { matching, recipientsOf } from "./recipients.ts";

const member = (userId: string, name: string, state: Member["state"] = "here"): Member => ({
  userId,
  name,
  role: "member",
  joinedAt: "2026-03-01T09:00:00.000Z",
  state,
});
const agent = (userId: string, name: string, handle: string) => ({
  userId,
  name,
  handle,
  avatar: null,
});
const session = (id: string, title: string, change: Partial<Session> = {}) =>
  ({ id, title, isOrchestrator: false, lifecycle: "active", ...change }) as Session;

const everybody = recipientsOf({
  myId: "usr_me",
  members: [member("usr_me", "Me"), member("usr_g", "Grace"), member("usr_x", "Gone", "removed")],
  agents: [agent("usr_g", "Owl", "owl"), agent("usr_me", "Fox", "fox")],
  sessions: [
    session("ses_1", "Agree on colours"),
    session("ses_2", "Ended", { lifecycle: "terminated" }),
    session("orchestrator:usr_me", "Fox", { isOrchestrator: true }),
  ],
});

describe("whom one can write to", () => {
  it("is everybody who is here but oneself, one's own agent first", () => {
    expect(everybody.map(({ to, kind }) => [to, kind])).toEqual([
      ["@fox", "agent"],
      ["usr_g", "person"],
      ["@owl", "agent"],
      ["ses_1", "session"],
    ]);
    expect(everybody[2]?.note).toBe("@owl · agent of Grace");
  });

  it("is found by name, handle or whose it is; a name that begins so comes first", () => {
    expect(matching(everybody, "gr").map(({ to }) => to)).toEqual(["usr_g", "@owl", "ses_1"]);
    expect(matching(everybody, "@owl").map(({ to }) => to)).toEqual(["@owl"]);
    expect(matching(everybody, "@user:grace").map(({ to }) => to)).toEqual(["usr_g", "@owl"]);
    expect(matching(everybody, "nobody at all")).toEqual([]);
    expect(matching(everybody, "")).toHaveLength(4);
  });
});

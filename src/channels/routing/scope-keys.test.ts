import { describe, expect, it } from "vitest";
import { type ChannelAddress, channelTypeOf, scopeKeyOf } from "./scope-keys.ts";

describe("a scope key", () => {
  it.each<[ChannelAddress, string | null]>([
    [{}, null],
    [{ channelType: "web" }, null],
    [{ channelType: "web", channelId: "ses_1" }, "user:u:manual:ses_1"],
    [{ channelId: "ses_1" }, "user:u:manual:ses_1"],
    [{ channelType: "web", channelId: "user:u:manual:ses_1" }, "user:u:manual:ses_1"],
    [{ channelType: "web", channelId: "user:v:manual:ses_1" }, null],
    [{ channelType: "slack", channelId: "T1:C2:1234.5678" }, "user:u:slack:T1:C2:1234.5678"],
    [{ channelType: "github", channelId: "acme/api:pr:42" }, "user:u:github:acme/api:pr:42"],
    [{ channelType: "github", channelId: "acme/api:issue:15" }, "user:u:github:acme/api:issue:15"],
    [{ channelType: "api", channelId: "job" }, "user:u:api:job"],
    [{ channelType: "api" }, null],
    [{ channelType: "slack" }, null],
    [{ scopeKey: "user:u:slack:T1:C2:3" }, "user:u:slack:T1:C2:3"],
    [{ scopeKey: "user:v:slack:T1:C2:3" }, null],
    [{ scopeKey: "user:uu:slack:T1" }, null],
    [{ scopeKey: "org:o:system:r1:x" }, null],
    [{ scopeKey: "anything" }, null],
    // Any id of a channel stays within the sender's own keys.
    [{ channelType: "slack", channelId: "x:user:v:manual:s" }, "user:u:slack:x:user:v:manual:s"],
  ])("of %o is %s", (place, key) => {
    expect(scopeKeyOf("u", place)).toBe(key);
  });

  it("says which channel it is of", () => {
    expect(channelTypeOf("user:u:manual:s")).toBe("web");
    expect(channelTypeOf("user:u:github:acme/api:pr:42")).toBe("github");
    expect(channelTypeOf("user:u:")).toBe("web");
  });
});

import { describe, expect, it } from "vitest";
import { filterOf, isFiltered, readInboxSearch } from "./inbox-search.ts";

describe("what of the inbox is shown", () => {
  it("is read from an address, and what makes no sense is dropped", () => {
    const search = { box: "sent", unread: "true", type: "question", from: "user:usr_1", x: 1 };
    expect(readInboxSearch(search)).toEqual({
      box: "sent",
      unread: true,
      type: "question",
      from: "user:usr_1",
    });
    expect(readInboxSearch({ box: "inbox", unread: 1, type: "toString", from: "ses_1" })).toEqual(
      {},
    );
  });

  it("is asked of the server", () => {
    expect(filterOf({})).toEqual({ box: "inbox" });
    expect(
      filterOf({ unread: true, type: "question", from: "session:orchestrator:usr_1" }),
    ).toEqual({
      box: "inbox",
      unreadOnly: true,
      messageType: "question",
      fromSessionId: "orchestrator:usr_1",
    });
    // In "sent" the reader is always the sender, and others mark the messages as read.
    expect(filterOf({ box: "sent", unread: true, from: "user:usr_1" })).toEqual({ box: "sent" });
    expect(isFiltered({ box: "sent" })).toBe(false);
    expect(isFiltered({ from: "user:usr_1" })).toBe(true);
  });
});

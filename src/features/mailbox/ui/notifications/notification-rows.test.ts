import { describe, expect, it } from "vitest";
import type { NotificationPreference } from "#features/mailbox/contract.ts";
import { preferenceRows, switched } from "./notification-rows.ts";

const preference = (change: Partial<NotificationPreference>): NotificationPreference => ({
  messageType: "notification",
  eventType: null,
  deliverWeb: true,
  deliverSlack: false,
  deliverTelegram: false,
  deliverEmail: false,
  deliverPush: false,
  digest: false,
  isDefault: true,
  ...change,
});

describe("what one may set about notifications", () => {
  const items = [
    preference({ deliverSlack: true }),
    preference({ eventType: "mail.loop_cut", deliverEmail: true, isDefault: false }),
  ];
  const rows = preferenceRows(items, true);
  const find = (event: string | null) =>
    rows.find((row) => row.messageType === "notification" && row.eventType === event);

  it("does as its type unless it was set apart", () => {
    expect([...(find(null)?.channels ?? [])]).toEqual(["slack"]);
    expect([...(find("session.completed")?.channels ?? [])]).toEqual(["slack"]);
    expect(find("session.completed")?.isAsType).toBe(true);
    expect([...(find("mail.loop_cut")?.channels ?? [])]).toEqual(["email"]);
    expect(find("mail.loop_cut")?.isAsType).toBe(false);
  });

  it("has one row for each type where nothing can be chosen", () => {
    expect(preferenceRows(items, false).map(({ messageType }) => messageType)).toEqual([
      "message",
      "notification",
      "question",
      "escalation",
      "approval",
    ]);
  });

  it("changes one channel of one row", () => {
    const row = find("session.completed");
    expect(row && switched(row, "push", true)).toEqual({
      messageType: "notification",
      eventType: "session.completed",
      deliverPush: true,
    });
  });
});

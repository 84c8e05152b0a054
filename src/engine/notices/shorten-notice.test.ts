import { expect, it } from "vitest";
import { type Notice, noticeSchema } from "#protocol/notices/notices.ts";
import { shortenNotice } from "./shorten-notice.ts";

const long = "x".repeat(2_000);

it("keeps beginnings of texts and says how long the whole is", () => {
  const notice: Notice = {
    kind: "children",
    waitEnded: null,
    items: [
      {
        type: "worker.ended",
        childId: "ses_1",
        childName: "counter",
        payload: { outcome: "completed", text: `${"x".repeat(499)}😀${long}` },
      },
      {
        type: "worker.ask_user",
        childId: "ses_2",
        childName: "asker",
        payload: { questions: [long], choices: [{ question: "Which?" }], gateId: "apr_1" },
      },
    ],
  };
  const short = shortenNotice(notice);
  expect(short).toMatchObject({
    items: [
      { payload: { isCut: true, length: 2_501 } },
      { payload: { questions: ["x".repeat(500)], gateId: "apr_1" } },
    ],
  });
  expect(JSON.stringify(short).length).toBeLessThan(2_000);
  expect(JSON.stringify(short).isWellFormed()).toBe(true);
  expect(noticeSchema.parse(short)).toEqual(short);
});

it("leaves a short notice as it is", () => {
  const notice: Notice = {
    kind: "callback",
    childId: "ses_1",
    childName: "counter",
    runId: "run_1",
    outcome: "completed",
    text: "done",
  };
  expect(shortenNotice(notice)).toEqual(notice);
});

/** Every word of every notice is another: what people see and what turns may do stay as they are. */
import { expect, it } from "vitest";
import type { Feature } from "#engine/index.ts";
import { FakeOffice, idOf } from "#features/mailbox/sending/fake-office.ts";
import { wakeLines } from "#features/sessions/cli/chat/compact.ts";
import { buildRows, type Row } from "#features/sessions/ui/transcript/rows.ts";
import type { User } from "#features/testing/index.ts";
import { noticeLine, shownNotice } from "#protocol/notices/notice-words.ts";

const other = () => "Lorem ipsum.";
const reworded: Feature = {
  name: "reworded",
  renderNotices: { children: other, messages: other, board: other, callback: other, call: other },
};

/** A child that ends, a task that is given, messages of the person and of a guest. */
async function story(more: readonly Feature[]) {
  const office = await FakeOffice.open({ more });
  const [ann, bob] = [await office.person("Ann"), await office.person("Bob")];
  const her = idOf(ann);
  await office.accept(ann, "org");
  const asking = await office.turn(ann, her, "begin");
  const child = await office.at.spawn(her);
  expect(await asking.tool("wait_for_event", {})).toMatchObject({ endsTurn: true });
  await asking.end("I wait.");
  await (await office.at.turnOf(child)).end("counted");
  await (await office.at.turnOf(her)).end("");
  const task = { title: "Pay", sessionId: her };
  await office.world.call(ann, "POST", `/api/sessions/${her}/tasks`, task);
  await (await office.at.turnOf(her)).end("");
  await office.send(ann, { to: her, content: "# Hello **you**" });
  await (await office.at.turnOf(her)).end("");
  await office.send(bob, { to: her, content: "What does she do?" });
  const guest = await office.at.turnOf(her);
  const listed = await guest.tool("list_sessions", {});
  const refused = await guest.tool("spawn_session", { prompt: "go" });
  await guest.end("");
  const shown = await shownOf(office, ann, her);
  const prompt = await office.world.kernel.prompts.get(ann, asking.assignment.promptId);
  await office.world.stop();
  return {
    texts: shown.entries.map(({ text }) => text),
    rows: shown.rows,
    queue: shown.entries.map(({ notice }) => {
      const one = shownNotice(notice);
      return one && noticeLine(one);
    }),
    terminal: shown.entries.map(({ notice }) => wakeLines(notice)),
    endedWaitingFor: prompt.endedWaitingFor,
    rights: {
      isAside: guest.assignment.thread.startsWith("mail:"),
      isGuest: shown.isGuest,
      saysWhatChildrenDo: JSON.stringify(listed.output).includes('"doing"'),
      refused: refused.error?.split(":")[0],
    },
  };
}

async function shownOf(office: FakeOffice, who: User, sessionId: string) {
  const page = await office.world.kernel.sessions.transcript(who, sessionId, { limit: 100 });
  const entries = page.items.filter(({ kind }) => kind === "prompt");
  const rows = buildRows({ entries, drafts: [], isWorking: false }).map(factsOf);
  const last = entries.at(-1)?.promptId ?? "";
  return { entries, rows, isGuest: (await office.prompt(last)).is_guest };
}

/** A row without ids, times and the words for the model. */
function factsOf(row: Row) {
  if (row.type === "wake" || row.type === "aside")
    return { type: row.type, notice: row.notice && noticeLine(row.notice) };
  return { type: row.type };
}

it("changes no row, no line and no right", async () => {
  const [plain, changed] = [await story([]), await story([reworded])];
  const { texts: before, ...seen } = plain;
  const { texts: after, ...seenNow } = changed;
  expect(seenNow).toEqual(seen);
  expect(after).toHaveLength(before.length);
  expect(after.filter((text) => text === other())).toHaveLength(4);
  expect(seen.rows.map(({ type }) => type)).toEqual([
    "day",
    "prompt",
    "wake",
    "wake",
    "wake",
    "aside",
  ]);
  expect(seen.queue).toEqual([
    null,
    "counter finished its turn",
    "Pay was assigned to it",
    "A message from Ann",
    "A message from Bob",
  ]);
  expect(seen.terminal).toEqual([null, ["counter: finished its turn"], null, null, null]);
  expect(seen.endedWaitingFor).toBe("children");
  expect(seen.rights).toMatchObject({
    isGuest: 1,
    saysWhatChildrenDo: false,
    refused: "guest_turn",
  });
});

import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ApiRoutes, BodyOf } from "#client/index.ts";
import type { Task } from "#features/tasks/contract.ts";
import { type Platform, startPlatform } from "#test/platform.ts";
import { chromiumFile } from "#test/services/chromium.ts";
import { launchBrowser, PHONE, SLOW, Visitor } from "../visitor.ts";

const DESK = { width: 1280, height: 800 };
/** Limit for one step on a busy machine. */
const PATIENT_MS = 15_000;
/** More than one page of a column. */
const CHORES = 55;

/** A person plans on their orchestrator's board. It is live: nothing is reloaded. */
describe.skipIf(!chromiumFile)("the task board", SLOW, () => {
  let platform: Platform;
  let browser: Browser;
  beforeAll(async () => {
    platform = await startPlatform();
    browser = await launchBrowser();
  });
  afterAll(async () => {
    await browser.close();
    await platform.stop();
  });

  const orchestrator = async () => (await platform.api.orchestrators.create()).session.id;
  type NewTask = BodyOf<ApiRoutes["tasks"]["create"]>;
  const create = async (board: string, title: string, more: Partial<NewTask> = {}) =>
    (await platform.api.tasks.create({ id: board, body: { title, ...more } })).task;
  const remove = ({ boardId, id }: Task) => platform.api.tasks.delete({ id: boardId, taskId: id });

  it("is planned, worked off and cleared on a desktop", async () => {
    const visitor = await Visitor.arrive(browser, platform);
    const { page } = visitor;
    page.setDefaultTimeout(PATIENT_MS);
    await page.setViewportSize(DESK);
    await visitor.signIn();
    const board = await orchestrator();
    const child = await platform.createSession({
      title: "API worker",
      parentSessionId: board,
      runtime: "echo",
    });
    const column = (name: string) => page.getByRole("region", { name, exact: true });
    const card = (name: string, title: string) =>
      column(name)
        .getByRole("listitem")
        .filter({ has: page.getByRole("link", { name: title, exact: true }) });
    const open = (name: string, title: string) =>
      column(name).getByRole("link", { name: title, exact: true }).click();
    const sheet = (title: string) => page.getByRole("dialog", { name: title });
    const button = (name: string) => page.getByRole("button", { name, exact: true });

    await page.getByRole("link", { name: "Board", exact: true }).click();
    await page.getByRole("heading", { name: "No tasks yet" }).waitFor();
    await visitor.picture("board-empty-desktop");

    // With the keyboard alone.
    await button("New task").first().focus();
    await page.keyboard.press("Enter");
    await expect.poll(() => page.locator("input:focus").count(), { timeout: PATIENT_MS }).toBe(1);
    await page.keyboard.type("Write the API");
    await page.keyboard.press("Enter");
    await card("Pending", "Write the API").waitFor();
    await page.getByRole("dialog").waitFor({ state: "detached" });

    await button("New task").click();
    const form = page.getByRole("form", { name: "New task" });
    await form.getByLabel("Title").fill("Write the page");
    await form.getByLabel("Labels").fill("frontend, urgent one");
    await form.getByLabel("Priority").selectOption("high");
    await form.getByLabel("Blocked by").selectOption({ label: "Write the API" });
    // Closing the form by mistake loses nothing.
    await page.keyboard.press("Escape");
    await form.waitFor({ state: "detached" });
    await button("New task").click();
    expect(await form.getByLabel("Title").inputValue()).toBe("Write the page");
    await visitor.picture("board-new-desktop");
    await form.getByRole("button", { name: "Create task" }).click();
    const second = card("Blocked", "Write the page");
    await second.getByText("blocked by “Write the API”").waitFor();
    await second.getByText("urgent one").waitFor();

    // Changes by an agent appear without a reload.
    const ship = await create(board, "Ship it");
    await create(board, "Tell people", { parentTaskId: ship.id });
    await card("Pending", "Ship it").getByText("0 of 1 subtask done").waitFor();
    await visitor.picture("board-desktop");
    expect(await visitor.overflow()).toBeLessThanOrEqual(0);

    await open("Pending", "Write the API");
    const first = sheet("Write the API");
    await first.getByLabel("Assignee").selectOption({ label: "API worker" });
    await first.getByText("changed the assignee").waitFor();
    await first.getByRole("region", { name: "Blocks" }).getByText("Blocked").waitFor();
    await button("Edit").click();
    const edit = page.getByRole("form", { name: "Edit task" });
    await edit.getByLabel("Blocked by").selectOption({ label: "Write the page" });
    await edit.getByRole("button", { name: "Save" }).click();
    await edit
      .getByText(
        "wait for each other forever: “Write the API” → “Write the page” → “Write the API”",
      )
      .waitFor();
    visitor.forgive(409);
    await visitor.picture("board-cycle-desktop");
    await edit.getByLabel("Title").focus();
    await page.keyboard.press("Escape");
    await edit.waitFor({ state: "detached" });
    await button("Block…").click();
    await page.keyboard.type("The office is closed");
    await page.keyboard.press("Control+Enter");
    await first.getByRole("region", { name: "Block reason" }).getByText("office").waitFor();
    await button("Unblock").click();
    await button("Start").click();
    await button("Start").waitFor({ state: "detached" });
    await visitor.picture("task-desktop");
    await button("Complete…").click();
    await page.keyboard.type("POST /auth/token");
    await first.getByRole("button", { name: "Complete", exact: true }).click();
    await first.getByText("1 task unblocked: “Write the page”").waitFor();
    await first.getByRole("region", { name: "Result" }).getByText("POST /auth/token").waitFor();
    await page.keyboard.press("Escape");
    await first.waitFor({ state: "detached" });
    await card("Pending", "Write the page").waitFor();
    await card("Completed", "Write the API").getByRole("link", { name: "API worker" }).waitFor();

    // The dialog first names what else is deleted.
    await open("Pending", "Ship it");
    await button("Delete").click();
    const question = page.getByRole("alertdialog");
    await question.getByText("1 subtask and everything below it").waitFor();
    await question.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await card("Pending", "Ship it").waitFor({ state: "detached" });
    await expect
      .poll(() => page.locator("button:focus").allInnerTexts(), { timeout: PATIENT_MS })
      .toEqual(["New task"]);
    await card("Pending", "Tell people").waitFor({ state: "detached" });
    await card("Pending", "Write the page").waitFor();

    // A task that someone else deletes while it is open is reported, without an error.
    const gone = await create(board, "Not for long");
    await open("Pending", "Not for long");
    await sheet("Not for long").getByText("created the task").waitFor();
    await remove(gone);
    await sheet("Task not found").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });

    await visitor.open(child.id);
    await page.getByRole("link", { name: "Tasks", exact: true }).click();
    await card("Completed", "Write the API").waitFor();
    await visitor.leave();
  });

  it("pages through completed tasks, and fits a phone", async () => {
    const { id } = await platform.createSession({ title: "Chores" });
    const held = await create(id, "A title that goes on and on ".repeat(8), { priority: "urgent" });
    for (let n = 1; n <= CHORES; n++) {
      const done = await create(id, `Chore ${n}`);
      await platform.api.tasks.update({
        id: done.boardId,
        taskId: done.id,
        body: { status: "completed" },
      });
    }
    const visitor = await Visitor.arrive(browser, platform);
    const { page } = visitor;
    page.setDefaultTimeout(PATIENT_MS);
    await page.setViewportSize(PHONE);
    await visitor.signIn();
    await page.goto(`${platform.url}/board/${id}`);
    const tab = (name: RegExp) => page.getByRole("tab", { name });
    await tab(/^Pending 1$/).waitFor();
    await page.getByRole("link", { name: /^A title that goes on/ }).waitFor();
    await visitor.picture("board-phone");
    expect(await visitor.overflow()).toBeLessThanOrEqual(0);
    await tab(/^Completed 50\+$/).click();
    const chores = page.getByRole("list", { name: "Completed" }).getByRole("listitem");
    // The latest completed task comes first.
    await chores.first().getByText(`Chore ${CHORES}`).waitFor();
    expect(await chores.count()).toBe(50);
    await page.getByRole("button", { name: "Show more" }).click();
    await tab(/^Completed 55$/).waitFor();
    expect(await chores.count()).toBe(CHORES);
    await tab(/^Pending/).click();
    await page.getByRole("link", { name: /^A title that goes on/ }).click();
    const sheet = page.getByRole("dialog");
    await sheet.getByRole("button", { name: "Block…" }).click();
    await sheet.getByLabel("Reason").fill("Nobody is here");
    await visitor.picture("task-phone");
    expect(await visitor.overflow()).toBeLessThanOrEqual(0);
    await sheet.getByRole("button", { name: "Block", exact: true }).click();
    await sheet.getByRole("region", { name: "Block reason" }).waitFor();
    await sheet.getByRole("button", { name: "Close" }).click();
    await sheet.waitFor({ state: "detached" });
    await tab(/^Blocked 1$/).click();
    await page.getByText("Nobody is here").waitFor();
    await page.getByRole("button", { name: "New task" }).click();
    await page.getByRole("form", { name: "New task" }).getByLabel("Check").selectOption("command");
    await visitor.picture("board-new-phone");
    expect(await visitor.overflow()).toBeLessThanOrEqual(0);
    await visitor.leave();
    await remove(held);
  });
});

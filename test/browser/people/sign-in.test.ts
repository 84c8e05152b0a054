import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { inviteToken } from "#test/clients/people.ts";
import { type Platform, startPlatform } from "#test/platform.ts";
import { chromiumFile } from "#test/services/chromium.ts";
import { type SignInServer, startSignInServer } from "#test/sign-in-server/sign-in-server.ts";
import { launchBrowser, SLOW, Visitor } from "../visitor.ts";

/**
 * A real browser goes to a service on another site and comes back: only a browser can tell if
 * cookies travel as they must.
 */
describe.skipIf(!chromiumFile)("signing in through a service", SLOW, () => {
  let platform: Platform;
  let server: SignInServer;
  let browser: Browser;

  beforeAll(async () => {
    server = await startSignInServer();
    // On another site than 127.0.0.1, as a real service is.
    const elsewhere = server.url.replace("127.0.0.1", "localhost");
    platform = await startPlatform({
      runner: false,
      env: { ...server.env, MUSTER_GITHUB_URL: elsewhere },
    });
    browser = await launchBrowser();
  });
  afterAll(async () => {
    await browser.close();
    await platform.stop();
    await server.close();
  });

  const account = (n: number) => ({
    subject: String(n),
    login: `user${n}`,
    name: `User ${n}`,
    email: `user${n}@example.org`,
    isVerified: true,
  });

  it("a person joins with an invitation, returns by a link, and links another account", async () => {
    const visitor = await Visitor.arrive(browser, platform);
    const { page } = visitor;
    const sessions = page.getByRole("navigation", { name: "Sessions" });
    server.visitor = account(1);
    await page.goto(`${platform.url}/join#token=${await inviteToken(platform)}`);
    await page.getByRole("button", { name: "Join with GitHub" }).click();
    await sessions.waitFor();
    expect(new URL(page.url()).pathname).toBe("/");

    await page.goto(`${platform.url}/settings/sign-in`);
    await page.getByRole("listitem").filter({ hasText: "user1" }).waitFor();
    await visitor.picture("sign-in-settings");
    server.visitor = { ...account(2), subject: "sub-2" };
    await page.getByRole("button", { name: "Link Company" }).click();
    await page.getByRole("listitem").filter({ hasText: "user2@example.org" }).waitFor();
    expect(page.url()).toBe(`${platform.url}/settings/sign-in`);

    // With the linked account, to the page that was asked for.
    await page.context().clearCookies();
    await page.goto(`${platform.url}/settings/sign-in`);
    await page.getByRole("link", { name: "Continue with Company" }).waitFor();
    await visitor.picture("sign-in-page");
    await page.getByRole("link", { name: "Continue with Company" }).click();
    await page.getByRole("button", { name: "Unlink user1" }).click();
    await page.getByRole("alertdialog").getByRole("button", { name: "Unlink" }).click();
    await page.getByRole("status").getByText("Unlinked user1").waitFor();
    await page.getByRole("button", { name: "Unlink user2@example.org" }).click();
    await page.getByRole("alertdialog").getByRole("button", { name: "Unlink" }).click();
    await page.getByText("Without this account you could no longer sign in").waitFor();
    visitor.forgive(401);
    visitor.forgive(409);
    await visitor.leave();
  });

  it("an unknown account, and another person's account, get the reason", async () => {
    const visitor = await Visitor.arrive(browser, platform);
    const { page } = visitor;
    server.visitor = account(77);
    await page.goto(`${platform.url}/sign-in`);
    await page.getByRole("link", { name: "Continue with GitHub" }).click();
    await page.getByRole("alert").getByText("Ask an admin for an invitation").waitFor();
    expect(page.url()).toBe(`${platform.url}/sign-in`);

    await page.goto("about:blank");
    await visitor.signIn();
    server.visitor = { ...account(2), subject: "sub-2" };
    await page.goto(`${platform.url}/settings/sign-in`);
    await page.getByRole("button", { name: "Link Company" }).click();
    await page.getByRole("alert").getByText("Somebody here already uses this account").waitFor();
    expect(page.url()).not.toContain("problem");
    await visitor.leave();
  });
});

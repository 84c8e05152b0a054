/** Sign-in links and sessions in a real browser: confirmations, and who else gets the cookie. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { join } from "#test/clients/people.ts";
import { type Platform, startPlatform } from "#test/platform.ts";
import { chromiumFile } from "#test/services/chromium.ts";
import { launchBrowser, SLOW, Visitor } from "../visitor.ts";

describe.skipIf(!chromiumFile)("sign-in links", SLOW, () => {
  let platform: Platform;
  let browser: Browser;
  let listener: Server;
  const heard: string[] = [];

  beforeAll(async () => {
    platform = await startPlatform({ runner: false });
    browser = await launchBrowser();
    listener = createServer((request, response) => {
      heard.push(request.headers.cookie ?? "");
      response.setHeader("set-cookie", "planted=1; Path=/");
      response.end("<!doctype html><title>another program</title>");
    });
    await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  });
  afterAll(async () => {
    await browser.close();
    await platform.stop();
    listener.close();
  });

  const linkOf = async (who: Pick<Platform, "request">) =>
    (await who.request<{ link: string }>("POST", "/api/auth/links", {})).body.link;

  it("of another person ask first, signed in or not", async () => {
    const eve = await join(platform, "Eve");
    const visitor = await Visitor.arrive(browser, platform);
    const { page } = visitor;
    await page.goto(await linkOf(eve));
    await page.getByRole("heading", { name: "Sign in as Eve?" }).waitFor();
    expect(page.url()).not.toContain("token");
    await visitor.picture("sign-in-link-asks");
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("heading", { name: "Sign in to Muster" }).waitFor();

    await page.goto("about:blank");
    await visitor.signIn();
    await page.goto("about:blank");
    await page.goto(await linkOf(eve));
    await page
      .getByRole("heading", { name: /^You are signed in as .+\. Switch to Eve\?$/ })
      .waitFor();
    await visitor.picture("sign-in-link-asks-other");
    await page.getByRole("button", { name: /^Stay signed in as / }).click();
    await page.getByRole("navigation", { name: "Sessions" }).waitFor();
    expect(await page.getByText("Eve", { exact: true }).count()).toBe(0);

    await page.goto("about:blank");
    await page.goto(await linkOf(eve));
    await page.getByRole("button", { name: "Sign in as Eve" }).click();
    await page.getByRole("contentinfo").getByText("Eve", { exact: true }).waitFor();
    visitor.forgive(401);
    await visitor.leave();
  });

  it("sessions last through reloads and in further tabs, and the cookie alone opens nothing", async () => {
    const visitor = await Visitor.arrive(browser, platform);
    const { page } = visitor;
    await visitor.signIn();
    await page.reload();
    await page.getByRole("navigation", { name: "Sessions" }).waitFor();
    const tab = await page.context().newPage();
    await tab.goto(platform.url);
    await tab.getByRole("navigation", { name: "Sessions" }).waitFor();

    // A page on another port of this host is sent the cookie.
    await tab.goto(`http://127.0.0.1:${(listener.address() as AddressInfo).port}/`);
    const cookie = heard.at(-1) ?? "";
    expect(cookie).toContain(`muster_${platform.server.http.port}=mst_web_`);
    const secret = /=(mst_web_[\w-]+)/.exec(cookie)?.[1] ?? "";
    const asIs: Record<string, string>[] = [
      { cookie },
      { cookie, origin: platform.url },
      { cookie, origin: platform.url, "sec-fetch-site": "same-origin" },
      { authorization: `Bearer ${secret}` },
    ];
    for (const headers of asIs)
      expect((await fetch(`${platform.url}/api/me`, { headers })).status).toBe(401);
    await page.reload();
    await page.getByRole("navigation", { name: "Sessions" }).waitFor();

    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("heading", { name: "Sign in to Muster" }).waitFor();
    const kept = await page.evaluate<string>("JSON.stringify(localStorage)");
    expect(kept).not.toContain("mst_web_");
    // Requests in progress when the session ended.
    visitor.forgive(401);
    await visitor.leave();
  });

  it("the API documentation opens as a page", async () => {
    const visitor = await Visitor.arrive(browser, platform);
    await visitor.signIn();
    await visitor.page.goto(`${platform.url}/api/docs`);
    await visitor.page.locator("#operations-tag-Sessions").waitFor();
    await visitor.leave();
  });
});

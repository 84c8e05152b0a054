/** Signing in through GitHub and an OpenID provider, on each database. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { inviteToken, join, orgOf, PASSWORD, signIn } from "#test/clients/people.ts";
import { type Platform, startPlatform } from "#test/platform.ts";
import { createTestDatabase, postgresUrl, type TestDatabase } from "#test/services/postgres.ts";
import {
  type Account,
  type SignInServer,
  startSignInServer,
} from "#test/sign-in-server/sign-in-server.ts";
import { type ProviderId, Traveller } from "#test/sign-in-server/traveller.ts";

interface Linked {
  items: { id: string; provider: string; label: string; lastUsedAt: string | null }[];
}

function story(name: string, database: () => Promise<TestDatabase | undefined>): void {
  describe(name, () => {
    let platform: Platform;
    let made: TestDatabase | undefined;
    let server: SignInServer;
    let count = 1_000;

    beforeAll(async () => {
      made = await database();
      server = await startSignInServer();
      const where = made ? { MUSTER_DATABASE_URL: made.url } : {};
      platform = await startPlatform({ runner: false, env: { ...server.env, ...where } });
    });
    afterEach(() => {
      server.lies = {};
    });
    afterAll(async () => {
      await platform.stop();
      await server.close();
      await made?.drop();
    });

    const execute = (sql: string) =>
      platform.server.kernel.engine.store.transaction((tx) => tx.execute({ sql, parameters: [] }));
    const somebody = (fields: Partial<Account> = {}): Account => {
      const n = ++count;
      return {
        subject: String(n),
        login: `user${n}`,
        name: `User ${n}`,
        email: `user${n}@example.org`,
        isVerified: true,
        ...fields,
      };
    };
    const traveller = (cookie?: string) => new Traveller(platform, server, cookie);
    const joined = async (provider: ProviderId, fields: Partial<Account> = {}) => {
      const account = somebody(fields);
      const browser = traveller();
      const landed = await browser.join(provider, account, await inviteToken(platform));
      expect(landed.location).toBe("/");
      return { account, browser, userId: (await browser.me()) ?? "" };
    };
    const accountsOf = async (browser: Traveller) =>
      (await browser.request<Linked>("GET", "/api/me/accounts")).body.items;

    it("names the services, and reveals nothing else about them", async () => {
      const response = await fetch(`${platform.url}/api/auth/providers`);
      expect(await response.json()).toEqual({
        items: [
          { id: "github", name: "GitHub" },
          { id: "oidc", name: "Company" },
        ],
        next: null,
      });
    });

    describe.each(["github", "oidc"] as const)("by %s", (provider) => {
      it("a person joins with an invitation and returns with the same account", async () => {
        const { account, userId, browser } = await joined(provider);
        const { body } = await browser.request("GET", "/api/me");
        expect(body).toMatchObject({
          user: { name: account.name, email: account.email, role: "member" },
          scopes: ["*"],
        });
        const again = traveller();
        const landed = await again.signIn(provider, account, "?next=/sessions/x%3Fy=1");
        expect(landed).toMatchObject({ status: 302, location: "/sessions/x?y=1" });
        expect(await again.me()).toBe(userId);
        const opened = landed.setCookies.find((set) => set.includes("mst_web_"));
        expect(opened).toMatch(/; Path=\/; HttpOnly; SameSite=Strict; Expires=/);
        // The subject identifies the account: names and addresses may change at the service.
        const renamed = { ...account, login: "renamed", email: "new@example.org" };
        const later = traveller();
        await later.signIn(provider, renamed);
        expect(await later.me()).toBe(userId);
        expect(await accountsOf(later)).toMatchObject([
          { provider, lastUsedAt: expect.any(String) },
        ]);
      });

      it("an unknown account is told to ask for an invitation, whatever its e-mail address", async () => {
        const ann = await join(platform, `Ann${++count}`);
        const landed = await traveller().signIn(provider, somebody({ email: ann.email }));
        expect(landed.location).toBe("/sign-in?problem=account_unknown");
        expect(landed.setCookies.join()).not.toContain("mst_web_");
      });

      it("a member links an account with their password, signs in with it, and unlinks it", async () => {
        const ben = await join(platform, `Ben${++count}`);
        const account = somebody();
        const browser = traveller(ben.cookie);
        const refused = await browser.post(`/api/auth/${provider}/link`, {});
        expect(refused).toMatchObject({ status: 401, body: { error: { code: "sign_in_failed" } } });
        const linked = await browser.link(provider, account, PASSWORD);
        expect(linked.location).toBe("/settings/sign-in");
        expect(linked.setCookies.join()).not.toContain("mst_web_");
        expect(await browser.link(provider, account, PASSWORD)).toMatchObject({
          location: "/settings/sign-in",
        });
        const other = traveller();
        await other.signIn(provider, account);
        expect(await other.me()).toBe(ben.userId);
        const [found, ...more] = await accountsOf(browser);
        expect(more).toEqual([]);
        // It cannot be linked by another person, or twice.
        const cy = await joined(provider);
        expect((await cy.browser.request("DELETE", `/api/me/accounts/${found?.id}`)).status).toBe(
          404,
        );
        const stolen = await cy.browser.link(provider, account);
        expect(stolen.location).toBe("/settings/sign-in?problem=account_taken");
        const gone = await browser.request("DELETE", `/api/me/accounts/${found?.id}`);
        expect(gone.status).toBe(200);
        // Browsers that signed in with it are signed out; the one that unlinked it stays.
        expect(await other.me()).toBeUndefined();
        expect(await browser.me()).toBe(ben.userId);
        const landed = await traveller().signIn(provider, account);
        expect(landed.location).toBe("/sign-in?problem=account_unknown");
      });

      it("a removed member's account opens nothing until an admin brings them back by their id", async () => {
        const { account, userId, browser } = await joined(provider);
        const { orgId } = await orgOf(platform);
        await platform.request("DELETE", `/api/orgs/${orgId}/members/${userId}`);
        expect(await browser.me()).toBeUndefined();
        const unknown = "/sign-in?problem=account_unknown";
        expect((await traveller().signIn(provider, account)).location).toBe(unknown);
        const token = await inviteToken(platform, { userId });
        const other = await traveller().join(provider, somebody(), token);
        expect(other.location).toBe("/sign-in?problem=email_not_invited");
        const back = traveller();
        expect((await back.join(provider, account, token)).location).toBe("/");
        expect(await back.me()).toBe(userId);
        // Even if a row had been left behind somehow.
        await execute(`update users set removed_at = 1 where id = '${userId}'`);
        expect((await traveller().signIn(provider, account)).location).toBe(unknown);
      });

      it("an invitation for an address requires that address, verified", async () => {
        const token = await inviteToken(platform, { email: `inv${++count}@example.org` });
        const email = `inv${count}@example.org`;
        const refused = "/sign-in?problem=email_not_invited";
        const others = [
          somebody(),
          somebody({ email, isVerified: false }),
          somebody({ email: null }),
        ];
        for (const account of others)
          expect((await traveller().join(provider, account, token)).location).toBe(refused);
        const right = traveller();
        expect((await right.join(provider, somebody({ email }), token)).location).toBe("/");
        const late = await traveller().join(provider, somebody({ email }), token);
        expect(late.location).toBe("/sign-in?problem=invitation_not_valid");
      });

      it("any other invitation makes a new person of someone with the address of a former member", async () => {
        const { account, userId } = await joined(provider);
        const { orgId } = await orgOf(platform);
        await platform.request("DELETE", `/api/orgs/${orgId}/members/${userId}`);
        const token = await inviteToken(platform, { email: account.email ?? "" });
        const fresh = traveller();
        expect((await fresh.join(provider, account, token)).location).toBe("/");
        expect(await fresh.me()).not.toBe(userId);
        const { body } = await fresh.request("GET", "/api/me");
        expect(body).toMatchObject({ user: { email: account.email } });
      });

      it("an unverified address is not stored", async () => {
        const ann = await join(platform, `Ann${++count}`);
        const { browser } = await joined(provider, { email: ann.email, isVerified: false });
        const { body } = await browser.request<{ user: { email: string | null } }>(
          "GET",
          "/api/me",
        );
        expect(body.user.email).toBeNull();
      });

      it("an account joins once, and an address belongs to one person", async () => {
        const { account } = await joined(provider);
        const token = await inviteToken(platform);
        const again = await traveller().join(provider, { ...account, email: null }, token);
        expect(again.location).toBe("/sign-in?problem=account_taken");
        const ann = await join(platform, `Ann${++count}`);
        const taken = await traveller().join(provider, somebody({ email: ann.email }), token);
        expect(taken.location).toBe("/sign-in?problem=email_taken");
        // Neither attempt has used up the invitation.
        expect((await traveller().join(provider, somebody(), token)).location).toBe("/");
      });
    });

    it("an account with a subject that is not plain text is refused", async () => {
      for (const subject of ["a\u0000b", "\ud800", "x\udfff", "a\nb", "a\u202eb", "\u007f"]) {
        const token = await inviteToken(platform);
        const landed = await traveller().join("oidc", somebody({ subject }), token);
        expect({ subject, ...landed }).toMatchObject({
          subject,
          status: 302,
          location: "/sign-in?problem=identity_not_confirmed",
        });
      }
      const token = await inviteToken(platform);
      const plain = somebody({ subject: "auth0|ä b\u00a0c" });
      expect((await traveller().join("oidc", plain, token)).location).toBe("/");
    });

    it("a person without a password adds another way in only right after signing in", async () => {
      const { account, browser, userId } = await joined("github");
      const setPassword = (who: Traveller) =>
        fetch(`${platform.url}/api/me/password`, {
          method: "PUT",
          headers: {
            cookie: who.cookie,
            origin: platform.url,
            "content-type": "application/json",
          },
          body: JSON.stringify({ newPassword: PASSWORD }),
        });
      const again = { error: { code: "sign_in_again" } };
      const refusesAll = async (who: Traveller) => {
        const refused = await setPassword(who);
        expect(refused.status).toBe(403);
        expect(await refused.json()).toMatchObject(again);
        const link = await who.post("/api/auth/oidc/link", {});
        expect(link).toMatchObject({ status: 403, body: again });
      };
      await browser.link("oidc", somebody());
      await execute(
        `update credentials set created_at = created_at - 601000 where principal_id = '${userId}'`,
      );
      await refusesAll(browser);
      // Nor by a link that the same browser makes for itself, or by a new cookie.
      const made = await browser.post<{ link: string }>("/api/auth/links", {});
      const token = new URL(made.body.link).hash.slice("#token=".length);
      const opened = traveller();
      await opened.post("/api/auth/sign-in", { token });
      expect(await opened.me()).toBe(userId);
      await refusesAll(opened);
      const [, second] = await accountsOf(browser);
      expect((await browser.request("DELETE", `/api/me/accounts/${second?.id}`)).status).toBe(200);
      expect(await browser.me()).toBe(userId);
      await refusesAll(browser);
      const fresh = traveller();
      await fresh.signIn("github", account);
      expect((await setPassword(fresh)).status).toBe(200);
    });

    it("an answer is accepted once, even when it arrives twice at once", async () => {
      const { account } = await joined("github");
      const browser = traveller();
      const back = server.approve((await browser.start("github")).location, account);
      const { cookie } = browser;
      const landed = await Promise.all(
        Array.from({ length: 5 }, () => traveller(cookie).visit(back)),
      );
      const places = landed.map(({ location }) => location).sort();
      expect(places).toEqual(["/", ...Array(4).fill("/sign-in?problem=sign_in_expired")]);
    });

    it("expires after ten minutes, and is then forgotten", async () => {
      const { account } = await joined("github");
      const browser = traveller();
      const back = server.approve((await browser.start("github")).location, account);
      await execute("update sign_in_flows set expires_at = 1");
      expect((await browser.visit(back)).location).toBe("/sign-in?problem=sign_in_expired");
      await traveller().start("github");
      const { engine } = platform.server.kernel;
      const sweep = platform.server.auth.feature.sweeps?.find(({ name }) =>
        name.startsWith("sign-ins that"),
      );
      const rows = () => execute("update sign_in_flows set next = next");
      expect(await rows()).toBe(1);
      await sweep?.run(engine, Date.now() + 11 * 60_000);
      expect(await rows()).toBe(0);
    });

    it("stores no secret of a sign-in in progress, and no token afterwards", async () => {
      const { account, browser } = await joined("oidc");
      const away = await browser.start("oidc");
      const query = new URL(away.location).searchParams;
      const rows = await platform.server.kernel.engine.store.read((reader) =>
        reader.query({ sql: "select * from sign_in_flows", parameters: [] }),
      );
      const text = JSON.stringify(rows);
      expect(rows).toHaveLength(1);
      for (const secret of [query.get("state"), query.get("nonce"), ...browser.cookies.values()])
        expect(text).not.toContain(secret);
      expect((await browser.visit(server.approve(away.location, account))).location).toBe("/");
    });

    it("takes names and addresses from the user info when the token has none", async () => {
      server.lies = { isThin: true };
      const { account, browser } = await joined("oidc");
      const { body } = await browser.request("GET", "/api/me");
      expect(body).toMatchObject({ user: { name: account.name, email: account.email } });
      server.lies = { isThin: true, userInfoSubject: "somebody-else" };
      const landed = await traveller().signIn("oidc", account);
      expect(landed.location).toBe("/sign-in?problem=identity_not_confirmed");
    });

    it("leaves nobody without a way to sign in", async () => {
      const { browser } = await joined("github");
      const [only] = await accountsOf(browser);
      const refused = await browser.request<{ error: { code: string } }>(
        "DELETE",
        `/api/me/accounts/${only?.id}`,
      );
      expect(refused).toMatchObject({ status: 409, body: { error: { code: "last_sign_in" } } });
      const body = { newPassword: PASSWORD };
      const set = await fetch(`${platform.url}/api/me/password`, {
        method: "PUT",
        headers: {
          cookie: browser.cookie,
          origin: platform.url,
          "content-type": "application/json",
        },
        body: JSON.stringify(body),
      });
      expect(set.status).toBe(200);
      const { user } = (await set.json()) as { user: { email: string } };
      const opened = await signIn(platform, user.email);
      expect(opened.status).toBe(200);
      const now = traveller(opened.headers.get("set-cookie") ?? "");
      expect((await now.request("DELETE", `/api/me/accounts/${only?.id}`)).status).toBe(200);
    });

    it("is in the audit trail, without names and addresses", async () => {
      const { account, browser } = await joined("github");
      const ben = await join(platform, `Ben${++count}`);
      await traveller(ben.cookie).link("github", somebody(), PASSWORD);
      await traveller().signIn("github", somebody());
      const { body } = await platform.request<{ items: object[] }>("GET", "/api/audit?limit=200");
      expect(body.items).toContainEqual(expect.objectContaining({ action: "sign_in_failed" }));
      const text = JSON.stringify(body.items);
      expect(text).toContain("linked_account");
      expect(text).not.toContain(account.login);
      expect(text).not.toContain(account.email);
      expect(await browser.me()).toBeDefined();
    });
  });
}

story("sign-in by others on sqlite", async () => undefined);
describe.skipIf(!postgresUrl)("with a PostgreSQL server", () => {
  story("sign-in by others on postgres", createTestDatabase);
});

/** Conditions for letting people in from other machines. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { cookieOf, PASSWORD, postAnonymously } from "#test/clients/people.ts";
import { type Platform, startPlatform } from "#test/platform.ts";
import { startSignInServer } from "#test/sign-in-server/sign-in-server.ts";
import { Traveller } from "#test/sign-in-server/traveller.ts";

describe("binding beyond this machine", () => {
  it("is refused until the server has a public name and an admin can sign in", async () => {
    const home = mkdtempSync(join(tmpdir(), "muster-door-"));
    const start = (env: Record<string, string>) =>
      startPlatform({ runner: false, env: { MUSTER_HOME: home, ...env } });
    const open = { MUSTER_HOST: "0.0.0.0", MUSTER_PUBLIC_URL: "https://muster.example.org" };
    await expect(start({ MUSTER_HOST: "0.0.0.0" })).rejects.toThrow("MUSTER_PUBLIC_URL");
    await expect(start(open)).rejects.toThrow("npx muster password");
    const alone = await start({});
    const set = await alone.request("PUT", "/api/me/password", {
      newPassword: PASSWORD,
      email: "owner@example.org",
    });
    expect(set.status).toBe(200);
    await alone.stop();
    const reachable = await start(open);
    expect(reachable.url).toBe("https://muster.example.org");
    await reachable.stop();
    rmSync(home, { recursive: true });
  });

  it("is allowed with a password from a file, which is set once", async () => {
    const home = mkdtempSync(join(tmpdir(), "muster-door-"));
    const file = join(home, "owner-password");
    const start = (env: Record<string, string>) =>
      startPlatform({
        runner: false,
        env: {
          MUSTER_HOME: home,
          MUSTER_HOST: "0.0.0.0",
          MUSTER_PUBLIC_URL: "https://muster.example.org",
          MUSTER_OWNER_PASSWORD_FILE: file,
          ...env,
        },
      });
    const email = { MUSTER_OWNER_EMAIL: "Owner@example.org" };
    await expect(start(email)).rejects.toThrow(/MUSTER_OWNER_PASSWORD_FILE.*ENOENT/);
    writeFileSync(file, "short\n");
    await expect(start(email)).rejects.toThrow(/MUSTER_OWNER_PASSWORD_FILE.*12/);
    writeFileSync(file, `${PASSWORD}\n`);
    await expect(start({})).rejects.toThrow(/MUSTER_OWNER_EMAIL/);
    await expect(start({ MUSTER_OWNER_EMAIL: "owner" })).rejects.toThrow(/MUSTER_OWNER_EMAIL/);
    const signIn = (platform: Platform, password: string) =>
      platform.server.auth.signIn({ email: "owner@example.org", password });
    const first = await start(email);
    await signIn(first, PASSWORD);
    await first.stop();
    // A file that changes or disappears later has no effect.
    writeFileSync(file, "another long password\n");
    const second = await start({ MUSTER_OWNER_EMAIL: "else@example.org" });
    await signIn(second, PASSWORD);
    await expect(signIn(second, "another long password")).rejects.toThrow();
    await second.stop();
    rmSync(file);
    await (await start({})).stop();
    rmSync(home, { recursive: true });
  });

  it("is allowed when an admin can sign in through a configured service", async () => {
    const home = mkdtempSync(join(tmpdir(), "muster-door-"));
    const server = await startSignInServer();
    const start = (env: Record<string, string>) =>
      startPlatform({ runner: false, env: { MUSTER_HOME: home, ...env } });
    const open = { MUSTER_HOST: "0.0.0.0", MUSTER_PUBLIC_URL: "https://muster.example.org" };
    await expect(start({ ...open, ...server.env })).rejects.toThrow("no admin could sign in");
    const alone = await start(server.env);
    const link = async (cookie: string, subject: string) => {
      const account = { subject, login: "x", name: "X", email: null, isVerified: false };
      const landed = await new Traveller(alone, server, cookie).link("github", account);
      expect(landed.location).toBe("/settings/sign-in");
    };
    const { body } = await alone.request<{ link: string }>("POST", "/api/auth/links", {});
    const token = new URL(body.link).hash.slice("#token=".length);
    await link(cookieOf(await postAnonymously(alone, "/api/auth/sign-in", { token })), "1");
    await alone.stop();
    await expect(start(open)).rejects.toThrow("no admin could sign in");
    const reachable = await start({ ...open, ...server.env });
    expect(reachable.url).toBe("https://muster.example.org");
    await reachable.stop();
    await server.close();
    rmSync(home, { recursive: true });
  });
});

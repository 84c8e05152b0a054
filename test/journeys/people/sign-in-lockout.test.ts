/** Guessing strangers lock nobody else out: not at another address, and not in a known browser. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { join, PASSWORD, postAnonymously } from "#test/clients/people.ts";
import { type Platform, startPlatform } from "#test/platform.ts";

const SLOW_MS = 60_000;
const FAILURES = 10;

let platform: Platform;
beforeAll(async () => {
  platform = await startPlatform({ runner: false, env: { MUSTER_TRUSTED_PROXY: "1" } });
});
afterAll(() => platform.stop());

const signIn = (email: string, password: string, address: string, cookie?: string) =>
  postAnonymously(
    platform,
    "/api/auth/sign-in",
    { email, password },
    { "x-forwarded-for": address, ...(cookie ? { cookie } : {}) },
  );
const markOf = ({ headers }: { headers: Headers }) =>
  headers
    .getSetCookie()
    .map((cookie) => cookie.split(";")[0] ?? "")
    .find((cookie) => cookie.includes("_known=")) ?? "";
const guessFrom = async (email: string, addresses: readonly string[]) => {
  const guesses: number[] = [];
  for (const address of addresses)
    guesses.push((await signIn(email, "a wrong password", address)).status);
  return guesses;
};

it("a stranger's guesses lock the stranger out, and the person nowhere else", {
  timeout: SLOW_MS,
}, async () => {
  const { email } = await join(platform, "Ann");
  const network = Array.from({ length: FAILURES }, (_, n) => `2001:db8::${n + 1}`);
  expect(new Set(await guessFrom(email, network))).toEqual(new Set([401]));
  // The whole network counts as one address, also with the right password.
  const locked = await signIn(email, PASSWORD, "2001:db8::ffff");
  expect(locked).toMatchObject({ status: 429, body: { error: { code: "sign_in_locked" } } });
  expect((await signIn(email, PASSWORD, "198.51.100.1")).status).toBe(200);
});

it("a browser that signed in before is let in beside the stranger, until the password changes", {
  timeout: SLOW_MS,
}, async () => {
  const ben = await join(platform, "Ben");
  const eve = await join(platform, "Eve");
  const address = "203.0.113.7";
  const first = await signIn(ben.email, PASSWORD, address);
  const mark = markOf(first);
  expect(first.headers.getSetCookie().find((cookie) => cookie.startsWith(mark))).toMatch(
    /; Path=\/; HttpOnly; SameSite=Strict; Max-Age=\d+/,
  );
  expect(new Set(await guessFrom(ben.email, Array(FAILURES).fill(address)))).toEqual(
    new Set([401]),
  );
  expect((await signIn(ben.email, PASSWORD, address)).status).toBe(429);
  // Another person's mark does not count.
  const eves = markOf(await signIn(eve.email, PASSWORD, "198.51.100.2"));
  expect((await signIn(ben.email, PASSWORD, address, eves)).status).toBe(429);
  expect((await signIn(ben.email, PASSWORD, address, mark)).status).toBe(200);
  const newPassword = "other horse battery";
  const body = { currentPassword: PASSWORD, newPassword };
  expect((await ben.request("PUT", "/api/me/password", body)).status).toBe(200);
  expect((await signIn(ben.email, newPassword, address, mark)).status).toBe(429);
  // The mark alone opens nothing.
  const me = await fetch(`${platform.url}/api/me`, { headers: { cookie: mark } });
  expect(me.status).toBe(401);
});

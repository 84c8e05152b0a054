import { scryptSync } from "node:crypto";
import { describe, expect, it } from "vitest";
import { hashPassword, isPassword, refuseWeakPassword } from "./passwords.ts";

describe("passwords", () => {
  it("are known by a hash with a salt of its own", async () => {
    const [first, second] = await Promise.all([
      hashPassword("correct horse battery"),
      hashPassword("correct horse battery"),
    ]);
    expect(first).not.toBe(second);
    expect(first).toMatch(/^scrypt\$32768\$8\$3\$[\w-]{22}\$[\w-]{43}$/);
    expect(await isPassword("correct horse battery", first)).toBe(true);
    expect(await isPassword("correct horse batterx", first)).toBe(false);
    expect(await isPassword("", first)).toBe(false);
    expect(await isPassword("correct horse battery", undefined)).toBe(false);
  });

  it("are the same however their letters are composed", async () => {
    const hash = await hashPassword("caf\u00e9 au lait sucre");
    expect(await isPassword("cafe\u0301 au lait sucre", hash)).toBe(true);
  });

  it("are not what is tried first", () => {
    for (const weak of ["aaaaaaaaaaaaaaaa", "121212121212", "Ann@Example.org"])
      expect(() => refuseWeakPassword(weak, "ann@example.org")).toThrow(/easy to guess/);
    expect(() => refuseWeakPassword("correct horse battery", null)).not.toThrow();
  });

  it("refuse a crowd instead of keeping everyone waiting", async () => {
    // A low cost allows many attempts; queueing does not depend on it.
    const salt = Buffer.from("salt");
    const key = scryptSync("correct horse battery", salt, 32, { N: 2, r: 1, p: 1 });
    const hash = `scrypt$2$1$1$${salt.toString("base64url")}$${key.toString("base64url")}`;
    const guess = (address: string) => isPassword("no", hash, { address });
    // Two run; at most sixteen of one address group and sixty-four in all wait.
    const one = Array.from({ length: 30 }, () => guess("192.0.2.1"));
    const same = Array.from({ length: 5 }, (_, n) => guess(`2001:db8::${n}`));
    const others = Array.from({ length: 80 }, (_, n) => guess(`198.51.100.${n}`));
    // Known people skip that queue and go first.
    let isKnownDone = false;
    const known = isPassword("correct horse battery", hash).then((isRight) => {
      isKnownDone = true;
      return isRight;
    });
    const last = others[40]?.then(() => isKnownDone);
    const all = await Promise.allSettled([...one, ...same, ...others]);
    const refused = all.filter(({ status }) => status === "rejected");
    expect(refused.length).toBe(30 + 5 + 80 - 2 - 64);
    expect(refused[0]).toMatchObject({ reason: { kind: "limit", code: "sign_in_busy" } });
    expect(await known).toBe(true);
    expect(await last).toBe(true);
    expect(await isPassword("correct horse battery", hash)).toBe(true);
  });
});

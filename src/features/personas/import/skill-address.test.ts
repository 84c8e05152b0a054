import { describe, expect, it } from "vitest";
import { parseSkillAddress, pinFor, resolveSkillAddress } from "./skill-address.ts";

const at = (url: string) => parseSkillAddress({ url });
const names = (addresses: Record<string, string[]>) => async (name: string) =>
  (addresses[name] ?? [name]).map((address) => ({
    address,
    family: address.includes(":") ? 6 : 4,
  }));
const member = (url: string, known: Record<string, string[]> = {}) =>
  resolveSkillAddress(at(url), { ownNetwork: false, lookupAll: names(known) });
const admin = (url: string, known: Record<string, string[]> = {}) =>
  resolveSkillAddress(at(url), { ownNetwork: true, lookupAll: names(known) });

describe("the address of skills", () => {
  it.each([
    ["/etc", "url_invalid"],
    ["./here", "url_invalid"],
    ["file:///etc", "url_invalid"],
    ["ssh://git@example.com/a.git", "url_invalid"],
    ["git@example.com:a/b.git", "url_invalid"],
    ["ext::sh -c touch% /tmp/x", "url_invalid"],
    ["git://example.com/a.git", "url_invalid"],
    ["--upload-pack=touch /tmp/x", "url_invalid"],
    ["https://example.com", "url_invalid"],
    ["https://example.com./a.git", "url_invalid"],
    ["https://example.com/a.git?x=1", "url_invalid"],
    ["https://token@example.com/a.git", "url_holds_credentials"],
    ["https://a:b@example.com/a.git", "url_holds_credentials"],
  ])("%s is refused", (url, code) => {
    expect(() => at(url)).toThrow(expect.objectContaining({ kind: "invalid", code }));
  });

  it.each([
    "-x",
    "--upload-pack=x",
    "a..b",
    "a b",
    "refs@{1}",
    "x.lock",
    "a//b",
    "a:b",
    "+a",
    "^a",
  ])("the ref %s is refused", (ref) => {
    expect(() => parseSkillAddress({ url: "https://example.com/a", ref })).toThrow(
      expect.objectContaining({ code: "ref_invalid" }),
    );
  });

  it.each(["..", "a/../b", "a\\b", "a:b", "a\nb", "a/".repeat(21)])(
    "the path %j is refused",
    (path) => {
      expect(() => parseSkillAddress({ url: "https://example.com/a", path })).toThrow(
        expect.objectContaining({ code: "path_invalid" }),
      );
    },
  );

  it("is a public one for a member, however it is written", async () => {
    expect(await member("https://example.com/a", { "example.com": ["1.1.1.1"] })).toBe("1.1.1.1");
    const refused = { kind: "forbidden", code: "address_refused" };
    for (const url of [
      "https://127.0.0.1/a",
      "https://127.1/a",
      "https://0x7f000001/a",
      "https://2130706433/a",
      "https://[::1]/a",
      "https://[::ffff:127.0.0.1]/a",
      "https://169.254.169.254/latest",
      "https://10.0.0.5/a",
    ])
      await expect(member(url), url).rejects.toMatchObject(refused);
    const both = { "example.com": ["1.1.1.1", "10.0.0.1"] };
    await expect(member("https://example.com/a", both)).rejects.toMatchObject(refused);
    const plain = { "example.com": ["1.1.1.1"] };
    await expect(member("http://example.com/a", plain)).rejects.toMatchObject({
      code: "url_invalid",
    });
  });

  it("may be of the own network for an admin, but never a cloud's metadata", async () => {
    expect(await admin("http://127.0.0.1:3000/a")).toBe("127.0.0.1");
    expect(await admin("https://git.lan/a", { "git.lan": ["10.0.0.5"] })).toBe("10.0.0.5");
    const refused = { kind: "forbidden", code: "address_refused" };
    await expect(admin("https://169.254.169.254/a")).rejects.toMatchObject(refused);
    await expect(admin("https://100.100.100.200/a")).rejects.toMatchObject(refused);
    const plain = { "example.com": ["1.1.1.1"] };
    await expect(admin("http://example.com/a", plain)).rejects.toMatchObject({
      code: "url_invalid",
    });
  });

  it("is pinned, so that the name is not asked for again", () => {
    expect(pinFor(at("https://Example.com/a"), "1.1.1.1")).toBe("example.com:443:1.1.1.1");
    expect(pinFor(at("http://git.lan:3000/a"), "fd12::1")).toBe("git.lan:3000:[fd12::1]");
    expect(pinFor(at("https://[::1]/a"), "::1")).toBeUndefined();
  });
});

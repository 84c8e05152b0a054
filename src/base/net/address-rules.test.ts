import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { findUrlProblem, isOwnNetwork, isPublicAddress, resolvePublic } from "./address-rules.ts";

const PUBLIC = ["1.1.1.1", "93.184.216.34", "172.32.0.1", "2606:4700::1111", "64:ff9b::1.1.1.1"];
const NOT_PUBLIC = [
  ...["0.0.0.0", "10.1.2.3", "100.64.0.1", "127.0.0.1", "127.255.255.254", "169.254.169.254"],
  ...["172.16.0.1", "172.31.255.255", "192.168.1.1", "198.18.0.1", "224.0.0.1", "255.255.255.255"],
  ...["168.63.129.16", "192.0.0.192", "100.100.100.200"],
  ...["::", "::1", "fe80::1", "fe80::1%eth0", "fc00::1", "fd00:ec2::254", "ff02::1", "2001:db8::1"],
  ...["::ffff:127.0.0.1", "::ffff:7f00:1", "0:0:0:0:0:ffff:10.0.0.1", "::127.0.0.1"],
  ...["64:ff9b::127.0.0.1", "64:ff9b:1::1", "2002:7f00:1::", "2001:0:7f00:1::"],
  ...["127.1", "2130706433", "0x7f.0.0.1", "017700000001", "localhost", "", "1.1.1.1 "],
];

describe("isPublicAddress", () => {
  it.each(PUBLIC)("takes %s", (ip) => expect(isPublicAddress(ip)).toBe(true));
  it.each(NOT_PUBLIC)("refuses %j", (ip) => expect(isPublicAddress(ip)).toBe(false));
});

describe("isOwnNetwork", () => {
  it.each(["127.0.0.1", "10.1.2.3", "192.168.1.1", "172.20.0.1", "::1", "fd12::1"])(
    "takes %s",
    (ip) => expect(isOwnNetwork(ip)).toBe(true),
  );
  it.each([
    ...["1.1.1.1", "169.254.169.254", "100.100.100.200", "fd00:ec2::254", "fe80::1", "0.0.0.0"],
    ...["127.1", "localhost", "", "fd12::1%eth0", "::ffff:169.254.169.254"],
  ])("refuses %j", (ip) => expect(isOwnNetwork(ip)).toBe(false));
});

describe("resolvePublic", () => {
  const names = (...addresses: string[]) => ({
    lookupAll: async () => addresses.map((address) => ({ address, family: 4 })),
  });

  it("gives the checked address", async () => {
    expect(await resolvePublic("example.com", names("93.184.216.34"))).toEqual({
      address: "93.184.216.34",
      family: 4,
    });
    expect((await resolvePublic("example.com", names("2606:4700::1111"))).family).toBe(6);
  });

  it("refuses a name with one address inside, wherever in the list", async () => {
    for (const answer of [["10.0.0.1"], ["1.1.1.1", "127.0.0.1"], []]) {
      await expect(resolvePublic("example.com", names(...answer))).rejects.toMatchObject({
        code: "address_refused",
      });
    }
  });

  it.each([
    ...[
      "127.0.0.1",
      "127.1",
      "2130706433",
      "0x7f000001",
      "0177.0.0.1",
      "[::1]",
      "::ffff:127.0.0.1",
    ],
    ...["localhost", "[::ffff:169.254.169.254]", "0", "169.254.169.254", "2852039166"],
  ])("refuses %s with the system's own resolver", async (host) => {
    await expect(resolvePublic(host)).rejects.toMatchObject({ code: "address_refused" });
  });

  it("says when a name does not exist", async () => {
    const lookupAll = () => Promise.reject(new Error("ENOTFOUND"));
    await expect(resolvePublic("nowhere.invalid", { lookupAll })).rejects.toMatchObject({
      code: "host_not_found",
    });
  });
});

describe("findUrlProblem", () => {
  const byte = fc.integer({ min: 0, max: 255 });
  /** Ways in which the URL parser takes one number. */
  const spellings = [
    (n: number) => String(n),
    (n: number) => `0x${n.toString(16)}`,
    (n: number) => `0X${n.toString(16).toUpperCase()}`,
    (n: number) => `0${n.toString(8)}`,
    (n: number) => `000${n.toString(8)}`,
  ];
  const spelling = fc.constantFrom(...spellings);
  /** An IPv4 address, with its last parts as one number or not, each in some spelling. */
  const v4 = fc
    .tuple(
      fc.tuple(byte, byte, byte, byte),
      fc.integer({ min: 1, max: 4 }),
      fc.array(spelling, { minLength: 4, maxLength: 4 }),
      fc.constantFrom("", "."),
    )
    .map(([bytes, parts, how, dot]) => {
      const head = bytes.slice(0, parts - 1);
      const last = bytes.slice(parts - 1).reduce((sum, part) => sum * 256 + part, 0);
      const text = [...head, last].map((n, at) => how[at]?.(n)).join(".");
      return { ip: bytes.join("."), host: `${text}${dot}` };
    });

  it("judges an IPv4 address alike in every spelling, and as it would be dialled", () => {
    const check = ({ ip, host }: { ip: string; host: string }) => {
      const url = new URL(`http://${host}/`);
      // The resolver gets the name that was judged.
      expect(url.hostname).toBe(ip);
      expect(findUrlProblem(url) === undefined).toBe(isPublicAddress(ip));
    };
    fc.assert(fc.property(v4, check), { numRuns: 5_000 });
  });

  it("judges an IPv6 address alike in every spelling", () => {
    const group = fc.oneof(
      fc.constantFrom(0, 0xffff, 0x7f00, 1, 0xfe80, 0xfd00, 0x2001, 0x64),
      fc.integer({ min: 0, max: 0xffff }),
    );
    const groups = fc.array(group, { minLength: 8, maxLength: 8 });
    const check = (all: number[], isUpper: boolean, isPadded: boolean) => {
      const text = all.map((n) => n.toString(16).padStart(isPadded ? 4 : 1, "0")).join(":");
      const url = new URL(`http://[${isUpper ? text.toUpperCase() : text}]/`);
      const ip = url.hostname.slice(1, -1);
      expect(isPublicAddress(text)).toBe(isPublicAddress(ip));
      expect(findUrlProblem(url) === undefined).toBe(isPublicAddress(ip));
    };
    fc.assert(fc.property(groups, fc.boolean(), fc.boolean(), check), { numRuns: 5_000 });
  });

  it("lets no address through whose host is one, and that resolving would refuse", async () => {
    const hosts = fc.oneof(
      v4.map(({ host }) => host),
      fc.constantFrom("localhost", "LOCALHOST.", "a.localhost", "x.internal", "ip6-loopback"),
    );
    const check = async (host: string) => {
      const url = URL.parse(`https://${host}/`);
      if (!url || findUrlProblem(url)) return;
      const found = [{ address: url.hostname, family: 4 }];
      const lookupAll = async () => found;
      expect(await resolvePublic(url.hostname, { lookupAll })).toMatchObject(found[0] ?? {});
    };
    await fc.assert(fc.asyncProperty(hosts, check), { numRuns: 2_000 });
  });
});

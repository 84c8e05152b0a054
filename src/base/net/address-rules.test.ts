import { describe, expect, it } from "vitest";
import { isOwnNetwork, isPublicAddress, resolvePublic } from "./address-rules.ts";

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

import { describe, expect, it } from "vitest";
import { clientAddress, trustedProxySchema } from "./trusted-proxy.ts";

const one = { hops: 1 };
const two = { hops: 2 };
const named = { addresses: ["10.0.0.1", "10.0.0.2"] };

describe("who is at the other end", () => {
  it.each([
    ["nobody is believed unless the settings say so", "9.9.9.9", "1.1.1.1", undefined, "9.9.9.9"],
    ["the last entry is the proxy's", "10.0.0.1", "6.6.6.6, 1.1.1.1", one, "1.1.1.1"],
    ["two proxies", "10.0.0.1", "6.6.6.6, 1.1.1.1, 10.0.0.2", two, "1.1.1.1"],
    ["fewer entries than proxies", "10.0.0.1", "1.1.1.1", two, "1.1.1.1"],
    ["no header", "10.0.0.1", undefined, one, "10.0.0.1"],
    ["by address, through both", "10.0.0.1", "6.6.6.6,1.1.1.1,10.0.0.2", named, "1.1.1.1"],
    ["by address, past the proxy", "9.9.9.9", "1.1.1.1", named, "9.9.9.9"],
    ["nothing but proxies", "10.0.0.1", "10.0.0.2", named, "10.0.0.2"],
    ["what is no address", "10.0.0.1", "1.1.1.1, <script>", one, "10.0.0.1"],
    ["another spelling", "::ffff:10.0.0.1", "[2001:DB8::1]:443", named, "2001:db8::1"],
    ["with a port", "10.0.0.1", "1.1.1.1:5555", one, "1.1.1.1"],
    ["a socket that is gone", undefined, "1.1.1.1", undefined, "unknown"],
  ] as const)("%s", (_name, remote, forwarded, trusted, client) => {
    expect(clientAddress(remote, forwarded, trusted)).toBe(client);
  });
});

describe("the setting", () => {
  it("is a number of proxies or their addresses", () => {
    expect(trustedProxySchema.parse("1")).toEqual({ hops: 1 });
    expect(trustedProxySchema.parse("10.0.0.1, ::1")).toEqual({ addresses: ["10.0.0.1", "::1"] });
    for (const bad of ["0", "11", "-1", "proxy.local", "10.0.0.0/8", "10.0.0.1,", "true"])
      expect(trustedProxySchema.safeParse(bad).success).toBe(false);
  });
});

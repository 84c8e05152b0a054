import { expect, test } from "vitest";
import { addressGroup } from "./address-group.ts";

test("addresses of one IPv6 network are one, IPv4 addresses are each their own", () => {
  const same = [
    "2001:db8:1:2::1",
    "2001:DB8:1:2:ffff:ffff:ffff:ffff",
    "2001:0db8:0001:0002::",
    "2001:db8:1:2::1%eth0",
    "2001:db8:1:2::192.0.2.1",
  ];
  expect(new Set(same.map(addressGroup))).toEqual(new Set(["2001:db8:1:2::/64"]));
  expect(addressGroup("2001:db8:1:3::1")).not.toBe(addressGroup("2001:db8:1:2::1"));
  expect(addressGroup("2001:db8::1")).toBe("2001:db8:0:0::/64");
  expect(addressGroup("::1")).toBe("0:0:0:0::/64");
  expect(addressGroup("192.0.2.1")).toBe("192.0.2.1");
  expect(addressGroup("192.0.2.2")).toBe("192.0.2.2");
  expect(addressGroup("::ffff:192.0.2.1")).toBe("192.0.2.1");
  expect(addressGroup("::FFFF:192.0.2.2")).toBe("192.0.2.2");
  expect(addressGroup("unknown")).toBe("unknown");
});

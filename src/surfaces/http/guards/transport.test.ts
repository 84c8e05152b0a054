import { expect, test } from "vitest";
import { createProxyWatch, requireHttps } from "./transport.ts";

const HERE = { remote: "127.0.0.1", local: "127.0.0.1", host: "muster.example" };
const AWAY = { remote: "203.0.113.9", local: "10.0.0.5", host: "muster.example" };
const PROXY = { remote: "10.0.0.2", local: "10.0.0.5", host: "muster.example" };
const NAMED = { addresses: ["10.0.0.2", "127.0.0.1"] };

const arrives = (
  request: { remote: string; local: string; host: string; forwardedProto?: string },
  trustedProxy?: { addresses: string[] } | { hops: number },
  insecureHttp = false,
) => {
  try {
    const settings = { insecureHttp, trustedProxy };
    requireHttps(settings, { forwardedProto: undefined, ...request });
    return true;
  } catch {
    return false;
  }
};

test.each([
  ["from this machine", HERE, undefined],
  ["from this machine, mapped", { ...HERE, remote: "::ffff:127.0.0.1" }, undefined],
  ["to an address of this machine", { ...AWAY, remote: "10.0.0.5" }, undefined],
  ["over HTTPS by a named proxy", { ...PROXY, forwardedProto: "https" }, NAMED],
  ["over HTTPS by one of so many", { ...PROXY, forwardedProto: "https" }, { hops: 1 }],
  ["over HTTPS by a proxy here", { ...HERE, forwardedProto: "https" }, NAMED],
])("is taken: %s", (_, request, trusted) => {
  expect(arrives(request, trusted)).toBe(true);
});

test.each([
  ["from elsewhere", AWAY, undefined],
  ["from elsewhere, said to be HTTPS by itself", { ...AWAY, forwardedProto: "https" }, undefined],
  ["past the named proxy", { ...AWAY, forwardedProto: "https" }, NAMED],
  ["by a proxy that does not say how", PROXY, NAMED],
  ["in the open, by a named proxy", { ...PROXY, forwardedProto: "http" }, NAMED],
  ["in the open, by a proxy here", { ...HERE, forwardedProto: "http" }, NAMED],
])("is refused: %s", (_, request, trusted) => {
  expect(arrives(request, trusted)).toBe(false);
  expect(arrives(request, trusted, true)).toBe(true);
});

test("an unconfigured proxy is detected, and reported at intervals", () => {
  let now = 0;
  const told: string[] = [];
  const watch = createProxyWatch(
    { addresses: ["10.0.0.2"] },
    () => now,
    (proxy) => told.push(proxy),
  );
  watch.look("10.0.0.2", true);
  watch.look("10.0.0.3", false);
  expect({ told, count: watch.count }).toEqual({ told: [], count: 0 });
  for (let n = 0; n < 5; n++) watch.look("10.0.0.3", true);
  expect({ told, count: watch.count }).toEqual({ told: ["10.0.0.3"], count: 5 });
  now += 11 * 60_000;
  watch.look("10.0.0.3", true);
  expect(told).toEqual(["10.0.0.3", "10.0.0.3"]);
});

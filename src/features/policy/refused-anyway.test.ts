/** Calls that their performer would refuse: the server denies them, so that no person is asked in vain. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findUrlProblem, isPublicAddress } from "#base/net/address-rules.ts";
import { asks, owner, startWorld, type World } from "#features/testing/index.ts";
import { policy } from "./index.ts";
import { refuseInAdvance } from "./refuse-in-advance.ts";

const PRIVATE = [
  ...["http://127.0.0.1/", "http://127.1/", "http://2130706433/", "http://0x7f.0.0.1/"],
  ...[
    "http://0x7f000001/",
    "http://0177.0.0.1/",
    "http://017700000001/",
    "http://0/",
    "http://0.0.0.0/",
  ],
  ...["http://127.0.0.1./", "http://①②⑦.⓪.⓪.①/", "http://127%2e0.0.1/", "http://127。0。0。1/"],
  ...["http://localhost/", "http://LOCALHOST./", "http://a.localhost/", "http://localhost:80/"],
  ...["http://10.1.2.3/", "http://172.16.0.1/", "http://192.168.1.1/", "http://100.64.0.1/"],
  ...["http://169.254.169.254/latest/meta-data/", "http://2852039166/", "http://168.63.129.16/"],
  ...["http://[::1]/", "http://[::]/", "http://[::ffff:127.0.0.1]/", "http://[::ffff:7f00:1]/"],
  ...[
    "http://[64:ff9b::7f00:1]/",
    "http://[fe80::1]/",
    "http://[fd00:ec2::254]/",
    "http://[ff02::1]/",
  ],
  ...["http://224.0.0.1/", "http://255.255.255.255/", "http://metadata.google.internal/"],
  ...[
    "http://printer.local/",
    "http://router.home.arpa/",
    "http://intranet/",
    "http://host.docker.internal/",
  ],
];
const REFUSED: [string, RegExp][] = [
  ...PRIVATE.map((url): [string, RegExp] => [
    url,
    /^address_refused: .* not on the public internet/,
  ]),
  ["https://user:pw@example.org/", /^url_not_allowed: .*user name or password/],
  ["https://token@github.com/", /^url_not_allowed: .*user name or password/],
  ["https://github.com:8443/", /^url_not_allowed: .*ports 80 and 443/],
  ["http://example.org:22/", /^url_not_allowed: .*ports 80 and 443/],
  ["https://[::1%25eth0]/", /./],
];

describe("what the runner would refuse", () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld([policy]);
  });
  afterAll(() => world.stop());

  it("is denied before anybody is asked, also with a rule that allows it", async () => {
    const rule = { tool: "web_fetch", pattern: "*", effect: "allow", level: "org" };
    await world.call(owner, "POST", "/api/policy/rules", rule);
    const turn = await world.startTurn(await world.createSession());
    for (const [url, reason] of REFUSED) {
      const callId = `c${url}`;
      const verdicts = await turn.journal([asks(callId, "web_fetch", { url })]);
      expect(verdicts[callId], url).toMatchObject({
        verdict: expect.stringMatching(/^(?:deny|invalid)$/),
        reason: expect.stringMatching(reason),
      });
    }
    const open = await turn.journal([asks("ok", "web_fetch", { url: "https://example.org/" })]);
    expect(open.ok?.verdict).toBe("allow");
    await turn.end("done");
  });

  it("is said in a preview too", async () => {
    const body = { tool: "web_fetch", target: "http://2130706433/" };
    expect(await world.call(owner, "POST", "/api/policy/preview", body)).toMatchObject({
      effect: "deny",
      reason: expect.stringContaining("address_refused"),
    });
  });

  it("leaves names to be judged when they are dialled", () => {
    for (const url of [
      "https://example.org/",
      "https://127.0.0.1.nip.io/",
      "https://xn--bcher-kva.example/",
    ])
      expect(findUrlProblem(new URL(url))).toBeUndefined();
    expect(isPublicAddress("93.184.216.34")).toBe(true);
  });

  it.each([
    ["read", "/home/ada/.ssh/id_rsa", true, true],
    ["read", "../../home/ada/.env", true, true],
    ["write", "/etc/app/.env", true, true],
    ["edit", "/workspace/../srv/.env", true, true],
    ["grep", "/root", true, true],
    ["read", "/workspace/.env", true, false],
    ["read", ".env", true, false],
    ["read", "a/../.env", true, false],
    ["read", "/tmp/key.pem", true, false],
    ["read", "../tmp/key.pem", true, false],
    // Only the machine itself knows the location of a workspace without a sandbox.
    ["read", "/home/ada/.env", false, false],
    ["read", "a\0b", false, true],
    ["bash", "cat /etc/passwd", true, false],
  ] as const)("%s on %s (confined: %s): refused %s", (tool, target, isConfined, isRefused) => {
    const refusal = refuseInAdvance({ tool, target }, isConfined);
    expect(refusal !== undefined).toBe(isRefused);
    if (isRefused && !target.includes("\0"))
      expect(refusal).toContain(`${target} is outside the workspace`);
  });
});

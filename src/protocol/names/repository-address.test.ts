import { spawnSync } from "node:child_process";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  addressText,
  type RepositoryAddress,
  readRepositoryAddress,
  repositoryAddressSchema,
  storedRepositoryAddress,
} from "./repository-address.ts";

/** Transport that git itself would use for a text. Git dials nothing: no transport is allowed. */
function transportOf(text: string): string {
  const { stderr, status } = spawnSync("git", ["ls-remote", "--", text], {
    cwd: "/",
    encoding: "utf8",
    env: {
      PATH: process.env.PATH,
      HOME: "/nonexistent",
      GIT_ALLOW_PROTOCOL: "none",
      GIT_CONFIG_NOSYSTEM: "1",
      GIT_CONFIG_GLOBAL: "/dev/null",
    },
  });
  expect(status).not.toBe(0);
  return /transport '([^']*)' not allowed/.exec(stderr)?.[1] ?? "none";
}

const PIECES = [
  ...["/", "//", "/srv", "/srv/payroll", "/etc/..", "\\", "\\\\", ":", "::", "@", "~", "-", "--"],
  ...["file:", "file://", "FILE://", "https:", "https://", "HtTpS://", "http://", "ssh://", "git@"],
  ...[
    "git://",
    "ext::",
    "fd::",
    "C:",
    "x:",
    "host",
    "localhost",
    "example.org",
    "[::1]",
    "127.0.0.1",
  ],
  ...["acme/app", ".git", ".", "..", "%2F", "%2e", "%5c", "%20", "%00", "?", "#", "user", ":pass"],
  ...[
    " ",
    "\t",
    "\n",
    "\u00a0",
    "\u3000",
    "\ufeff",
    "\u200b",
    "\u202e",
    "\u2028",
    "\u0000",
    "ü",
    "\ud800",
  ],
  ...["--upload-pack=x", "ext::sh -c id", "sh -c id", ";", "$(id)", "'", '"', "2222", ":22"],
];

const hostile = fc
  .array(
    fc.oneof({ weight: 6, arbitrary: fc.constantFrom(...PIECES) }, fc.string({ maxLength: 3 })),
    {
      minLength: 1,
      maxLength: 7,
    },
  )
  .map((parts) => parts.join(""));

const accepted = hostile.map(readRepositoryAddress).filter((reading) => !reading.problem);

describe("addresses of repositories", () => {
  it("has one spelling for each address, which reads as the same address", () => {
    const check = (given: string) => {
      const reading = readRepositoryAddress(given);
      if (reading.problem) return;
      const { address } = reading;
      expect(repositoryAddressSchema.parse(address)).toEqual(address);
      expect(readRepositoryAddress(addressText(address))).toEqual({ address });
    };
    fc.assert(fc.property(hostile, check), { numRuns: 20_000 });
  });

  it("makes no path of anything but a path, with nothing in it that climbs or hides", () => {
    const check = (given: string) => {
      const address = storedRepositoryAddress(given);
      if (address.kind !== "path") return;
      expect(address.path).toMatch(/^\/(?:[^/]+(?:\/[^/]+)*)?$/);
      expect(address.path.split("/")).not.toContain("..");
      expect(address.path).not.toMatch(/[\p{Cc}\p{Cf}\\]/u);
    };
    fc.assert(fc.property(hostile, check), { numRuns: 20_000 });
  });

  const TRANSPORTS: Record<RepositoryAddress["kind"], RegExp> = {
    web: /^https?$/,
    ssh: /^ssh$/,
    path: /^file$/,
    // A runner refuses such an address before git sees it.
    unknown: /^/,
  };

  it("reads what it accepts as git reads it: nothing from the web is a folder to git", () => {
    const check = (reading: ReturnType<typeof readRepositoryAddress>) => {
      if (reading.problem) return;
      expect(transportOf(addressText(reading.address))).toMatch(TRANSPORTS[reading.address.kind]);
    };
    fc.assert(fc.property(accepted, check), { numRuns: 250 });
  });

  it("takes nothing for a remote that git would open as a folder", () => {
    const check = (given: string) => {
      fc.pre(!given.includes("\u0000"));
      const transport = transportOf(given);
      const reading = readRepositoryAddress(given);
      if (transport === "file" && !reading.problem) {
        // A repository that git would open here is a path to us too, unless surrounding space made
        // git take an address for a folder's name; we pass on the address without that space.
        const isTrimmed = given !== given.trim();
        if (!isTrimmed) expect(["path", "unknown"]).toContain(reading.address.kind);
      }
    };
    fc.assert(fc.property(hostile, check), { numRuns: 250 });
  });
});

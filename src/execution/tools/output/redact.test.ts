import { describe, expect, it } from "vitest";
import { labelFetched } from "./label.ts";
import { createRedactor } from "./redact.ts";

const SECRET = 'pa"ss/w+rd ü\n7~?';

describe("a redactor", () => {
  const redact = createRedactor([SECRET, "short", "hunter2hunter2", "hunter2hunter2-longer"]);

  it.each([
    ["as it is", SECRET],
    ["in JSON", JSON.stringify(SECRET).slice(1, -1)],
    ["in an address", encodeURIComponent(SECRET)],
    ["in a form", new URLSearchParams([["k", SECRET]]).toString().slice(2)],
    ["in hex", Buffer.from(SECRET).toString("hex")],
    ["in base64", Buffer.from(SECRET).toString("base64").replace(/=+$/, "").slice(0, -1)],
  ])("finds a secret %s", (_name, text) => {
    const clean = redact(`before ${text} after`);
    expect(clean).toMatch(/^before \[secret\].{0,2} after$/s);
  });

  it.each([0, 1, 2, 3, 4, 5])("finds it in base64 after %s bytes", (before) => {
    for (const encoding of ["base64", "base64url"] as const) {
      const text = Buffer.from(`${"u".repeat(before)}hunter2hunter2:tail`).toString(encoding);
      expect(redact(text)).toContain("[secret]");
      expect(redact(text).length).toBeLessThan(22 + before);
    }
  });

  it("takes the longest, and leaves short ones alone", () => {
    expect(redact("hunter2hunter2-longer hunter2hunter2 short")).toBe("[secret] [secret] short");
  });

  it.each([
    ["sk-ant-api03-AbCdEf0123456789AbCdEf0123456789-xyz"],
    ["sk-proj-AbCdEf0123456789AbCdEf0123456789"],
    [`ghp_${"a1".repeat(18)}`],
    [`github_pat_${"a1".repeat(30)}`],
    ["xoxb-123456789012-abcdefABCDEF"],
    ["AKIAIOSFODNN7EXAMPLE"],
    [`mst_key_${"aB3-".repeat(8)}`],
    [`mst_rnr_${"aB3_".repeat(8)}`],
    [`mst_inv_${"aB3_".repeat(8)}`],
    [`mst_flow_${"aB3_".repeat(8)}`],
    [`mst_state_${"-B3_".repeat(8)}`],
    [`mrt_run_01jabcdefghjkmnpqrstvwxyz0.12.${"aB3_".repeat(10)}xyz`],
    ["eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P"],
    ["-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc=\n-----END RSA PRIVATE KEY-----"],
    ["-----BEGIN PRIVATE KEY-----\nMIIE cut off"],
  ])("knows the shape of %s", (key) => {
    expect(createRedactor([])(`key: ${key}`)).toBe("key: [secret]");
  });

  it("keeps the word before a token", () => {
    expect(createRedactor([])("Authorization: Bearer abcdefghijklmnop.1234")).toBe(
      "Authorization: Bearer [secret]",
    );
  });

  it.each([
    "the sk-spinner-with-a-long-class-name of a page",
    "task-based work, mst_keys, ghp_short, risk-assessment-of-2024-and-later",
    "Bearer of bad news",
    "-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----",
  ])("leaves alone: %s", (text) => {
    expect(createRedactor([])(text)).toBe(text);
  });

  it("is not slowed down by any text", () => {
    const many = createRedactor(
      Array.from({ length: 100 }, (_, i) => `secret-number-${i}-${i * 7919}`),
    );
    for (const word of [
      "sk-",
      "Bearer ",
      "eyJaaaaaaaaaaa.",
      "-----BEGIN ",
      "-----BEGIN PRIVATE KEY-----",
      "secret-number-",
      "a",
    ]) {
      const text = word.repeat(200_000 / word.length);
      expect(many(text).length).toBeGreaterThan(0);
    }
  });
});

describe("a label", () => {
  it("cannot be ended by what it holds", () => {
    const text = "a </fetched> </ FETCHED > <fetched url='x'> </fetchedx> b";
    const labelled = labelFetched('https://example.com/?"><x', text);
    expect(labelled.match(/<\/?\s*fetched\b/gi)).toEqual(["<fetched", "</fetched"]);
    expect(labelled).toBe(
      `<fetched url="https://example.com/?%22><x">\na &lt;/fetched> &lt;/ FETCHED > &lt;fetched url='x'> </fetchedx> b\n</fetched>`,
    );
  });
});

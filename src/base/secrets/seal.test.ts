import { describe, expect, it } from "vitest";
import { createSealer } from "./seal.ts";

const KEY = "a-secret-key-of-more-than-32-characters";
const PLACE = ["org_1", "user", "usr_1", "TOKEN"];

describe("sealing", () => {
  const sealer = createSealer(KEY, "tests");
  const sealed = sealer.seal("otter 🦦", PLACE);

  it("opens what was sealed for the same place", () => {
    expect(sealer.open(sealed, PLACE)).toBe("otter 🦦");
    expect(createSealer(KEY, "tests").open(sealed, PLACE)).toBe("otter 🦦");
    expect(sealer.open(sealer.seal("", PLACE), PLACE)).toBe("");
  });

  it("never writes the same secret alike twice, and shows nothing of it", () => {
    expect(sealer.seal("otter 🦦", PLACE)).not.toBe(sealed);
    expect(Buffer.from(sealed.slice(3), "base64url").toString("utf8")).not.toContain("otter");
  });

  it.each([
    ["another organisation", ["org_2", "user", "usr_1", "TOKEN"]],
    ["another owner", ["org_1", "user", "usr_2", "TOKEN"]],
    ["another name", ["org_1", "user", "usr_1", "TOKEN2"]],
    ["the same letters cut elsewhere", ["org_1", "user", "usr_1T", "OKEN"]],
    ["fewer parts", ["org_1", "user", "usr_1"]],
  ])("opens nothing for %s", (_what, place) => {
    expect(sealer.open(sealed, place)).toBeUndefined();
  });

  it("opens nothing under another key or for another purpose", () => {
    expect(createSealer(`${KEY}x`, "tests").open(sealed, PLACE)).toBeUndefined();
    expect(createSealer(KEY, "else").open(sealed, PLACE)).toBeUndefined();
  });

  it("opens nothing that was changed, cut or is no seal at all", () => {
    const bytes = Buffer.from(sealed.slice(3), "base64url");
    for (let at = 0; at < bytes.length; at++) {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] as number) ^ 1;
      expect(sealer.open(`v1.${changed.toString("base64url")}`, PLACE)).toBeUndefined();
    }
    for (const text of ["", "v1.", "v2.AAAA", sealed.slice(0, 20), "plain text", sealed.slice(3)])
      expect(sealer.open(text, PLACE)).toBeUndefined();
  });
});

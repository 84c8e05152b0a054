import { randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { createLog } from "./log.ts";

describe("log lines", () => {
  const lines: string[] = [];
  const log = createLog({ level: "info", write: (line) => lines.push(line) });
  const last = () => lines.at(-1) ?? "";

  it("command no terminal, whatever others called themselves", () => {
    log.info({ name: "a\u001b[2J\u009b2Jb\u202ec" }, "x\u0085\u2066y");
    expect(last()).not.toMatch(/[^\P{Cc}\n]|\p{Bidi_Control}/u);
    expect(JSON.parse(last())).toMatchObject({
      name: "a\u001b[2J\u009b2Jb\u202ec",
      msg: "x\u0085\u2066y",
    });
  });

  it("keep secrets out, by the name of their field and by their look", () => {
    log.info({ token: "abc", nested: { Authorization: "x", password: "y" } }, "fields");
    expect(JSON.parse(last())).toMatchObject({
      token: "[redacted]",
      nested: { Authorization: "[redacted]", password: "[redacted]" },
    });
    log.info(
      { url: "postgres://me:hunter2@db/x", note: "Bearer abcdefgh123 mst_key_abcdefgh123" },
      "look",
    );
    expect(last()).not.toMatch(/hunter2|abcdefgh123/);
  });

  it("keep out every secret we make, whatever its letters", () => {
    for (let i = 0; i < 500; i++) {
      const kind = ["mst_key_", "mst_inv_", "mst_flow_", "mst_state_", "mrt_run_01jabc.7."][i % 5];
      const secret = `${kind}${randomBytes(24).toString("base64url")}`;
      log.info({ note: `used ${secret} here` }, "secret");
      expect(last()).not.toContain(secret.slice(-12));
    }
    log.info({ a: "postgres://:s3cret@h/x", b: "postgres://me:p@ss/w@h/x" }, "urls");
    expect(last()).not.toMatch(/s3cret|p@ss|ss\/w/);
  });

  it("contain errors with their cause, without their secrets", () => {
    const error = new Error("failed for sk-12345678901", { cause: new Error("because") });
    log.error({ err: error }, "broken");
    expect(last()).toContain("because");
    expect(last()).not.toContain("sk-12345678901");
  });

  it("bear what refers to itself", () => {
    const loop: Record<string, unknown> = {};
    loop.self = loop;
    log.info({ loop }, "loop");
    expect(last()).toContain("[deep]");
  });

  it("leave out what is below their level", () => {
    const before = lines.length;
    log.debug({}, "unheard");
    expect(lines).toHaveLength(before);
  });
});

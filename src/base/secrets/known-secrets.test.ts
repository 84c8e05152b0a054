import { randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { createLog } from "../log.ts";
import { keepSecret, pinSecret, withoutSecrets } from "./known-secrets.ts";
import { createSealer } from "./seal.ts";

describe("secrets that were used", () => {
  it("are taken out of any text, however they are written", () => {
    const secret = 'otter "quoted" + key\\';
    keepSecret(`${secret}\n`);
    for (const form of [
      secret,
      JSON.stringify(secret),
      encodeURIComponent(secret),
      Buffer.from(secret).toString("hex"),
      Buffer.from(`x-access-token:${secret}`).toString("base64"),
    ])
      expect(withoutSecrets(`before ${form} after`)).toMatch(/^before .*\[redacted\].* after$/);
    expect(withoutSecrets("before and after")).toBe("before and after");
  });

  it("are not words that are found everywhere", () => {
    keepSecret("the");
    expect(withoutSecrets("the end")).toBe("the end");
  });

  it("reach no log line once they were sealed or opened: not in fields, names, errors or the text", () => {
    const lines: string[] = [];
    const log = createLog({ level: "debug", write: (line) => lines.push(line) });
    const sealer = createSealer("the-servers-own-key-of-otters", "test");
    const opened = sealer.open(sealer.seal("hush-hush-otter", ["a"]), ["a"]) ?? "";
    log.info({ note: opened, [opened]: 1, deep: { er: [new Error(`no ${opened}`)] } }, opened);
    log.child({ opened }).error({ err: new Error("x", { cause: new Error(opened) }) }, "y");
    log.warn({ note: "the-servers-own-key-of-otters" }, "z");
    expect(lines).toHaveLength(3);
    expect(lines.join("")).not.toMatch(/hush-hush|own-key-of/);
  });

  it("are forgotten when there are very many, the oldest first", () => {
    keepSecret("the-first-of-very-many");
    for (let n = 0; n < 999; n++) keepSecret(`one-of-very-many-${n}-`);
    keepSecret("the-first-of-very-many");
    keepSecret("one-more-of-very-many");
    expect(withoutSecrets("the-first-of-very-many")).toBe("[redacted]");
    expect(withoutSecrets("one-of-very-many-0-")).toBe("one-of-very-many-0-");
  });

  it("are never forgotten when they are pinned", () => {
    createSealer("the-master-key-of-this-server-0000", "test");
    pinSecret("a-client-secret-from-the-settings");
    for (let n = 0; n < 1_100; n++) keepSecret(`one-that-pushes-others-out-${n}-`);
    expect(withoutSecrets("k=the-master-key-of-this-server-0000")).toBe("k=[redacted]");
    expect(withoutSecrets("a-client-secret-from-the-settings")).toBe("[redacted]");
  });

  it("are not pushed out by asking whether one can be opened", () => {
    const sealer = createSealer("another-key-for-looking-at-things", "test");
    const sealed = Array.from({ length: 1_000 }, (_, n) => sealer.seal(`looked-at-${n}-`, ["a"]));
    keepSecret("a-secret-that-is-in-use");
    expect(sealed.every((text) => sealer.opens(text, ["a"]))).toBe(true);
    expect(sealer.opens(sealed[0] ?? "", ["b"])).toBe(false);
    expect(withoutSecrets("a-secret-that-is-in-use")).toBe("[redacted]");
    expect(withoutSecrets("looked-at-999-")).toBe("[redacted]");
  });

  it("are known by their beginning when they are very long, and all after it goes", () => {
    const long = randomBytes(32 * 1024).toString("hex");
    keepSecret(long);
    expect(withoutSecrets(`before ${long} after`)).toBe("before [redacted]");
    expect(withoutSecrets(`x ${Buffer.from(long).toString("base64")}`)).toBe("x [redacted]");
    expect(withoutSecrets(long.slice(1_000))).toBe(long.slice(1_000));
  });

  it("take little room, however long they are", () => {
    const short = "a-short-one-from-before";
    keepSecret(short);
    for (let n = 0; n < 400; n++) keepSecret(randomBytes(30_000).toString("hex"));
    expect(withoutSecrets(short)).toBe("[redacted]");
    // By their size, long before there are too many.
    for (let n = 0; n < 200; n++) keepSecret(randomBytes(1_500).toString("hex"));
    expect(withoutSecrets(short)).toBe(short);
  });

  it("cannot break a log line, rename its fields or hide its level", () => {
    const lines: string[] = [];
    const log = createLog({ level: "info", write: (line) => lines.push(line) });
    for (const value of ['"level":"', '{"level":', '","msg":"', "provider", '"warn","time":'])
      keepSecret(value);
    log.warn({ provider: "github", deep: { provider: "provider" } }, 'it "level":" did');
    expect(JSON.parse(lines[0] ?? "")).toMatchObject({
      level: "warn",
      provider: "github",
      deep: { provider: "[redacted]" },
      msg: "it [redacted] did",
    });
  });

  it("are not written as numbers, nor as the code of an error", () => {
    const lines: string[] = [];
    const log = createLog({ level: "info", write: (line) => lines.push(line) });
    keepSecret("8675309867");
    keepSecret("E_OTTERS_OWN");
    const err = Object.assign(new Error("x"), { code: "E_OTTERS_OWN", name: "E_OTTERS_OWN" });
    log.info({ number: 8675309867, other: 42, err }, "numbers");
    expect(JSON.parse(lines[0] ?? "")).toMatchObject({ number: "[redacted]", other: 42 });
    expect(lines[0]).not.toMatch(/8675309867|OTTERS/);
  });
});

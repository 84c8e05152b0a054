import { describe, expect, it } from "vitest";
import { keepSecret, withoutSecrets } from "./known-secrets.ts";
import { createLog } from "./log.ts";
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
});

/**
 * Judging runs inside a transaction, so no command and no rule may keep the server busy. The tests
 * count steps where possible; elsewhere they compare times with each other, never with seconds.
 */
import { describe, expect, it } from "vitest";
import { growth, MOST_GROWTH } from "#test/growth.ts";
import type { Rule } from "./contract.ts";
import { factsOf } from "./evaluation/call-facts.ts";
import { evaluate } from "./evaluation/evaluate.ts";
import { matchesGlob, newSteps } from "./evaluation/patterns.ts";
import { isSecretGlob } from "./evaluation/secret-files.ts";
import { readCommands } from "./shell/bash-commands.ts";

function stepsOf(work: (steps: { left: number }) => unknown): number {
  const steps = newSteps();
  const before = steps.left;
  work(steps);
  return before - steps.left;
}

const rule = (pattern: string, effect: Rule["effect"], id = pattern.slice(0, 20)): Rule => ({
  id,
  level: "user",
  sessionId: null,
  coversChildren: false,
  sandboxedOnly: false,
  tool: "bash",
  pattern,
  match: "glob",
  effect,
  note: null,
  createdBy: "usr_1",
  createdAt: null,
});

describe("globs", () => {
  const hostile = `*${"a".repeat(9_990)}b`;
  const target = "a".repeat(99_000);

  it("give up after a million steps, and say so", () => {
    expect(matchesGlob(hostile, target, "text")).toBe("unsure");
    expect(stepsOf((steps) => matchesGlob(hostile, target, "text", steps))).toBeLessThanOrEqual(
      1_000_001,
    );
    expect(matchesGlob(`**/${hostile}`, `x/${target}`, "path")).toBe("unsure");
  });

  it("take steps in proportion where a pattern is an honest one", () => {
    const steps = (size: number) =>
      stepsOf((left) => matchesGlob("*git*push*", "git log; ".repeat(size), "text", left));
    expect(steps(2_000) / steps(1_000)).toBeLessThan(2.5);
    expect(steps(1_000)).toBeLessThan(30_000);
  });

  it("for all rules together are bounded too", () => {
    const rules = Array.from({ length: 1_000 }, (_, at) => rule(hostile, "allow", `rul_${at}`));
    const call = factsOf("bash", `ls ${"a".repeat(19_000)}`, false);
    expect(stepsOf((steps) => evaluate(call, rules, steps))).toBeLessThanOrEqual(5_001_000);
  });

  it("count against the call when the match is uncertain", () => {
    const text = `ls ${"a".repeat(19_000)}`;
    const judged = (effect: Rule["effect"]) =>
      evaluate(factsOf("bash", text, false), [rule(hostile, effect)]);
    expect(judged("deny").effect).toBe("deny");
    expect(judged("ask").effect).toBe("ask");
    expect(judged("allow").matched.map(({ level }) => level)).toEqual(["builtin"]);
  });

  it("see characters of every kind as one", () => {
    expect(matchesGlob("a?b", "a😀b", "text")).toBe(true);
    expect(matchesGlob("a??b", "a😀b", "text")).toBe(false);
  });
});

describe("globs of secrets", () => {
  it("are not looked into when they are longer than any name", () => {
    for (const piece of ["[", "*", "?", "[a]", "{", "*a"]) {
      const pattern = piece.repeat(20_000);
      expect(stepsOf((steps) => isSecretGlob(pattern, steps))).toBe(0);
      expect(isSecretGlob(pattern)).toBe(true);
    }
    const most = stepsOf((steps) => isSecretGlob(`.${"*[".repeat(120)}`, steps));
    expect(most).toBeLessThan(20_000);
  });

  it("are asked about then", () => {
    const { effect, rule: decides } = evaluate(
      factsOf("bash", `cat ${"[".repeat(5_000)}`, true),
      [],
    );
    expect([effect, decides.id]).toEqual(["ask", "builtin:secrets-in-commands"]);
  });
});

describe("commands", () => {
  it("are not read when they are longer than anybody reads", () => {
    const long = `ls ${"x".repeat(20_000)}`;
    expect(readCommands(long)).toEqual({ commands: [], opaque: true, tangled: true });
    expect(evaluate(factsOf("bash", long, true), []).rule.id).toBe("builtin:tangled");
  });

  it("that are not read are let only by name, since they may hide what another rule stops", () => {
    const long = `npm publish #${"x".repeat(20_000)}`;
    expect(evaluate(factsOf("bash", long, true), [rule("*", "allow")]).effect).toBe("ask");
    const same: Rule = { ...rule(long, "allow"), match: "exact" };
    expect(evaluate(factsOf("bash", long, true), [same]).effect).toBe("allow");
    expect(evaluate(factsOf("bash", long, true), [rule("*", "deny")]).effect).toBe("deny");
  });

  it("make few words of many braces, and hide nothing behind none", () => {
    const { commands } = readCommands(`cat ${"{,}".repeat(90)} ${"{a,b}".repeat(50)}; git push`);
    expect(commands.map(({ name }) => name)).toEqual(["cat", "git"]);
    expect(readCommands("true {,}; git push").commands).toHaveLength(2);
  });

  it("of any shape make no more than so many commands and words", () => {
    for (const piece of [
      "strace ",
      "ssh h ",
      "parallel ",
      "sudo --zz ",
      "xargs ",
      "env ",
      "git -c alias.x=y ",
      "a;",
      "alias x=y ",
    ]) {
      const { commands } = readCommands(piece.repeat(20_000 / piece.length));
      const words = commands.reduce((sum, one) => sum + one.words.length, 0);
      expect(commands.length).toBeLessThanOrEqual(5_001);
      expect(words).toBeLessThanOrEqual(50_000 + 20_000);
    }
  });
});

/** A busy machine may slow all runs of one measurement; quadratic code fails every time. */
const TIMED = { retry: 2 };

describe("reading a command takes time in proportion to its text", () => {
  /** Lengths that `growth` asks for, scaled to commands that are short enough to be read. */
  const units = (unit: string, chars: number) => unit.repeat(chars / 16 / unit.length);
  const many = (chars: number, one: (at: number) => string) =>
    Array.from({ length: chars / 320 }, (_, at) => one(at)).join("");

  it.each<[string, (chars: number) => string]>([
    ["a long list in one word", (chars) => `echo {${units("a,", chars)}`],
    ["open braces", (chars) => units("{", chars)],
    ["open braces with lists", (chars) => units("{a,", chars)],
    ["open sequences", (chars) => units("{1..", chars)],
    ["open arithmetic", (chars) => units("$[", chars)],
    ["open here-documents", (chars) => units("<<E ", chars)],
    ["quotes in quotes", (chars) => units("\"'", chars)],
    ["the name of a variable", (chars) => `read ${units("a", chars)}`],
    ["the options of a shell", (chars) => `bash -${units("c", chars)}!`],
    ["the input option of a shell", (chars) => `bash -${units("s", chars)}!`],
    ["assignments after env", (chars) => `env ${units("A=1 ", chars)}`],
    [
      "variables and substitutions",
      (chars) => `${many(chars, (at) => `a${at}=1 `)};${many(chars, () => "$(x) ")}`,
    ],
  ])("%s", TIMED, (_name, makeInput) => {
    expect(readCommands(makeInput(256_000)).tangled).toBe(false);
    expect(growth(makeInput, readCommands)).toBeLessThan(MOST_GROWTH);
  });

  it.each(["{,}{,}{,}{,}{,}", "{,,,,,,,,}"])("an open brace after %s", TIMED, (pairs) => {
    // Long words are not expanded, so the words grow here and their number does not.
    const makeInput = (chars: number) =>
      `echo ${`${pairs}{${",".repeat(chars / 1_000)} `.repeat(55)}`;
    expect(readCommands(makeInput(256_000)).tangled).toBe(false);
    // The pairs cost the same in short words, which hides most of the growth: quadratic is about 5.
    expect(growth(makeInput, readCommands)).toBeLessThan(2);
  });
});

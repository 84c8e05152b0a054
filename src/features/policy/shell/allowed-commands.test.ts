/**
 * Lines that look as if an allow covered them, and make bash run something else. Each line really runs,
 * in a folder of its own, so that the test also shows when a line no longer works as described.
 */
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type { Rule } from "../contract.ts";
import { factsOf } from "../evaluation/call-facts.ts";
import { evaluate } from "../evaluation/evaluate.ts";

const top = mkdtempSync(join(tmpdir(), "muster-allowed-"));
afterAll(() => rmSync(top, { recursive: true, force: true }));

const MARK = "p";
let runs = 0;

/** True if bash runs the hidden command, which leaves a file. */
function runsMore(line: string): boolean {
  const cwd = join(top, String(++runs));
  mkdirSync(join(cwd, "bin"), { recursive: true });
  writeFileSync(join(cwd, "bin", "git"), "#!/bin/sh\n/usr/bin/env touch p\n");
  chmodSync(join(cwd, "bin", "git"), 0o755);
  if (line === "printf *")
    for (const name of ["-v", "a[$(touch p)]"]) writeFileSync(join(cwd, name), "");
  spawnSync("/bin/bash", ["--norc", "--noprofile", "-c", line], {
    cwd,
    env: { PATH: "/usr/bin:/bin", LC_ALL: "C" },
    stdio: "ignore",
    timeout: 10_000,
  });
  return existsSync(join(cwd, MARK));
}

function isAllowed(pattern: string, line: string): boolean {
  const rule: Rule = {
    id: "rule",
    level: "user",
    sessionId: null,
    coversChildren: false,
    sandboxedOnly: false,
    tool: "bash",
    pattern,
    match: "glob",
    effect: "allow",
    note: "",
    createdBy: null,
    createdAt: null,
  };
  return evaluate(factsOf("bash", line, false), [rule]).rule.id === rule.id;
}

describe("an allow does not cover", () => {
  it.each([
    ["the last of several targets", "printf *", "printf -v a -v 'b[$(touch p)]' x"],
    ["a target that evaluates its value", "printf *", "printf -v RANDOM %s 'a[$(touch p)]'"],
    ["names of files as arguments", "printf *", "printf *"],
    ["a variable for a descriptor", "printf *", "printf x {a['$(touch p)']}>/dev/null"],
    ["an escape in braces", "printf *", "printf $'\\x{2d}v' 'a[$(touch p)]' x"],
    ["a NUL that ends nothing but itself", "printf *", "printf $'\\0'-v 'a[$(touch p)]' x"],
    ["a NUL that ends a word", "test *", "test $'-v\\0' 'a[$(touch p)]'"],
    ["a dollar on the line before", "printf *", 'printf "$\\\n(touch p)"'],
    ["a quote after a line's end", "printf *", "printf $\\\n'\\x2d\\x76' 'a[$(touch p)]' x"],
    ["a loop over what evaluates", "printf *", "for RANDOM in 'a[$(touch p)]'; do printf x; done"],
    [
      "what a loop expands",
      "printf *",
      "for y in '$(touch p)'; do for z in $" + "{x:-$" + "{y@P}}; do printf a; done; done",
    ],
    [
      "a loop that sets where programs lie",
      "git *",
      "for PATH in bin:/usr/bin; do git status; done",
    ],
    ["a loop without words", "printf*", "printf() { for x do touch p; done; }; printf 1"],
    ["a file", "printf *", "printf x >p"],
    ["a list in quotes", "declare *", "declare -a 'a=($(touch p))'"],
    ["a list for a variable of bash", "declare *", "declare 'DIRSTACK=($(touch p))'"],
    ["an exported list", "export *", "export -a 'a=($(touch p))'"],
    ["completions", "compgen *", "compgen -W '$(touch p)'"],
    ["a command for completions", "compgen *", "compgen -C 'touch p #'"],
    ["a command at the end", "trap *", "trap -- 'touch p' EXIT"],
  ])("%s", (_name, pattern, line) => {
    expect(isAllowed(pattern, line)).toBe(false);
    expect(runsMore(line)).toBe(true);
  });

  it.each(["'if' printf x", "\\! printf x", "</dev/null do printf x"])("a program: %s", (line) => {
    expect(isAllowed("printf *", line)).toBe(false);
  });

  it.each(["> 1", "> -", "< 1", ">& file", "{x}>/dev/null"])("a redirection %s", (redirection) => {
    expect(isAllowed("printf *", `printf x ${redirection}`)).toBe(false);
  });

  it.each([
    ["printf *", "printf '%s\\n' a b 2>&1 >/dev/null"],
    ["printf *", "printf -v x %s 1"],
    ["printf *", "printf '%s\\n' *"],
    ["printf *", "printf $'a\\tb\\x41'"],
    ["export *", "export NODE_ENV=test"],
    ["npm *", "npm test 2>&1; npm run build </dev/null"],
  ])("more than it must: %s, %s", (pattern, line) => {
    expect(isAllowed(pattern, line)).toBe(true);
  });
});

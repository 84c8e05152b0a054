/**
 * Compares our reading of shell commands with bash itself: every command that bash runs must be in the
 * reading, or the reading must be opaque. Generated lines use harmless programs that only note their
 * name, so that everything a line does can be seen and harms nobody.
 */
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { readCommands } from "./bash-commands.ts";

const STUBS = ["alpha", "beta", "gamma", "delta"];
const REAL = ["env", "xargs", "timeout", "nohup", "nice", "bash", "sh", "find"];
const top = mkdtempSync(join(tmpdir(), "muster-shell-"));
const wrappers = join(top, "wrappers");
const cwd = join(top, "cwd");
mkdirSync(wrappers);
mkdirSync(cwd);
for (const name of REAL) {
  const found = ["/usr/bin", "/bin"].map((folder) => join(folder, name)).find(existsSync);
  if (found) symlinkSync(found, join(wrappers, name));
}
afterAll(() => rmSync(top, { recursive: true, force: true }));

let runs = 0;

/**
 * Returns the stubs that bash runs for a line.
 * Each line has its own stubs, since some end after their line.
 */
function executed(line: string): Set<string> {
  const bin = join(top, String(++runs));
  const log = join(bin, "log");
  mkdirSync(bin);
  writeFileSync(log, "");
  for (const name of STUBS) {
    writeFileSync(join(bin, name), `#!/bin/sh\necho ${name} >> ${log}\n`);
    chmodSync(join(bin, name), 0o755);
  }
  spawnSync("/bin/bash", ["--norc", "--noprofile", "-c", line], {
    cwd,
    env: { PATH: `${bin}:${wrappers}` },
    input: "one two\n",
    timeout: 3_000,
    killSignal: "SIGKILL",
    stdio: ["pipe", "ignore", "ignore"],
  });
  return new Set(readFileSync(log, "utf8").split("\n").filter(Boolean));
}

/** Lists the commands that bash ran and the reading lacks. */
function missed(line: string): string[] {
  const { commands, opaque } = readCommands(line);
  if (opaque) return [];
  const known = new Set(commands.map(({ name }) => name));
  return [...executed(line)].filter((name) => !known.has(name));
}

const stub = fc.constantFrom(...STUBS);
const substitution = stub.chain((name) =>
  fc.constantFrom(`$(${name})`, `\`${name}\``, `$( ${name} x )`, `$(${name};${name})`),
);
const subscript = fc
  .tuple(fc.constantFrom("a", "b", "_x"), fc.oneof(substitution, fc.constantFrom("0", "i", "$i")))
  .map(([name, inner]) => `${name}[${inner}]`);
const arithmetic = fc.oneof(subscript, fc.constantFrom("1", "x", "x+1", "a[0]"));
const text = fc.oneof(
  fc.constantFrom(
    "x",
    "-v",
    "-n",
    "-d",
    "-p",
    "-i",
    "-a",
    "-eq",
    "1",
    "%s",
    "%d",
    "y=1",
    "*",
    "-z",
  ),
  substitution,
  subscript,
  subscript.map((name) => `${name}=1`),
);
const quoted = fc
  .tuple(fc.constantFrom("none", "single", "double", "ansi", "escaped", "mixed"), text)
  .map(([how, inner]) => {
    switch (how) {
      case "single":
        return `'${inner}'`;
      case "double":
        return `"${inner}"`;
      case "ansi":
        return `$'${inner.replaceAll("$", "\\x24").replaceAll("`", "\\x60")}'`;
      case "escaped":
        return inner.replace(/[$`[\]()]/g, "\\$&");
      case "mixed":
        return `"${inner.slice(0, 1)}"'${inner.slice(1)}'`;
      default:
        return inner;
    }
  });
const expansion = fc.oneof(
  arithmetic.map((inner) => `$((${inner}))`),
  subscript.map((name) => `\${${name}}`),
  substitution.map((inner) => `\${x:-${inner}}`),
  subscript.map((name) => `\${x:${name}}`),
  arithmetic.map((inner) => `$[${inner}]`),
  stub.map((name) => `{${name},x}`),
  stub.map((name) => `<(${name})`),
);
const word = fc.oneof({ weight: 4, arbitrary: quoted }, { weight: 1, arbitrary: expansion });
const words = fc.array(word, { maxLength: 4 }).map((all) => all.join(" "));

const BUILTINS = [
  ...[
    "printf",
    "printf -v",
    "test",
    "test -v",
    "[ -v",
    "let",
    "read",
    "read -a",
    "declare",
    "declare -i",
  ],
  ...[
    "typeset",
    "export",
    "readonly",
    "unset",
    "unset -v",
    "mapfile",
    "readarray",
    "getopts ab",
    "wait -p",
  ],
  ...[
    "echo",
    "true",
    ":",
    "eval",
    "trap",
    "command",
    "builtin printf",
    "shift",
    "local",
    "set --",
    "hash",
  ],
  ...[
    "[[ -v",
    "[[ 1 -eq",
    "[[ x ==",
    "((",
    "enable",
    "alias",
    "type",
    "cd",
    "printf -vx",
    "declare -n r=",
  ],
];
const builtin = fc.tuple(fc.constantFrom(...BUILTINS), words).map(([name, rest]) => {
  if (name.startsWith("[[")) return `${name} ${rest} ]]`;
  if (name.startsWith("[ ")) return `${name} ${rest} ]`;
  if (name === "((") return `(( ${rest} ))`;
  return `${name} ${rest}`;
});
const wrapped = fc
  .tuple(
    fc.constantFrom(
      ...[
        "env",
        "env -i PATH=$PATH",
        "env A=1",
        "command",
        "exec",
        "nohup",
        "nice -n 1",
        "timeout 2",
      ],
      ...["xargs", "xargs -I% ", "bash -c", "sh -c", "eval", "time", "!", "builtin eval", "coproc"],
    ),
    stub,
    words,
  )
  .map(([wrapper, name, rest]) => `${wrapper} ${name} ${rest}`);
const assigned = fc
  .tuple(fc.constantFrom("x", "a", "i"), word, fc.oneof(stub, fc.constant("")))
  .map(([name, value, then]) => `${name}=${value} ${then}`);
const simple = fc.oneof(
  { weight: 5, arbitrary: builtin },
  fc.tuple(stub, words).map(([name, rest]) => `${name} ${rest}`),
  wrapped,
  assigned,
  fc.tuple(subscript, word).map(([name, value]) => `${name}=${value}`),
  fc.tuple(stub, stub).map(([one, other]) => `x=${one}; $x; \${x} ${other}`),
  stub.map((name) => `f() { ${name}; }; f`),
  fc.tuple(stub, substitution).map(([name, inner]) => `${name} <<E\n${inner}\nE\n`),
);
const { line } = fc.letrec<{ line: string }>((tie) => ({
  line: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    simple,
    fc
      .tuple(tie("line"), fc.constantFrom(";", "&&", "||", "|", "\n", "&"), tie("line"))
      .map(([a, op, b]) => `${a} ${op} ${b}`),
    tie("line").map((inner) => `( ${inner}\n)`),
    tie("line").map((inner) => `{ ${inner}\n}`),
    tie("line").map((inner) => `if ${inner}\nthen :; fi`),
    fc.tuple(word, tie("line")).map(([value, inner]) => `for i in ${value}; do ${inner}\ndone`),
    fc.tuple(word, tie("line")).map(([value, inner]) => `case ${value} in *) ${inner}\n;; esac`),
    tie("line").map((inner) => `while ${inner}\ndo break; done`),
  ),
}));

describe("what bash runs", () => {
  it.each([
    ...["printf -v 'a[$(alpha)]' x", "printf '-va[$(alpha)]' x", "test -v 'a[$(alpha)]'"],
    ...[
      "[ -v 'a[$(alpha)]' ]",
      "[[ -v 'a[$(alpha)]' ]]",
      "let 'a[$(alpha)]=1'",
      "unset 'a[$(alpha)]'",
    ],
    ...[
      "read 'a[$(alpha)]'",
      "read -a 'a[$(alpha)]'",
      "declare 'a[$(alpha)]=1'",
      "typeset 'a[`alpha`]=1'",
    ],
    ...[
      "export 'a[$(alpha)]=1'",
      "readonly 'a[$(alpha)]=1'",
      "(( a[$(alpha)] ))",
      "(( 'a[$(alpha)]' ))",
    ],
    ...["[[ 1 -eq 'a[$(alpha)]' ]]", "[[ a[\\$\\(alpha\\)] -eq 1 ]]", "wait -p 'a[$(alpha)]'"],
    ...[
      "f() { local 'a[$(alpha)]=1'; }; f",
      "getopts ab 'a[$(alpha)]' -a",
      "mapfile 'a[$(alpha)]'",
    ],
    ...[
      "printf -v x %b 'b[\\x24(alpha)]'; printf -v 'a[x]' 1",
      "builtin printf -v 'a[$(alpha)]' 1",
    ],
    ...[
      "command test -v $'a[\\x24(alpha)]'",
      "x='a[$(alpha)]'; echo $((x))",
      "x='a[$(alpha)]'; ((x))",
    ],
    ...[
      "x='a[$(alpha)]'; let x",
      "declare -i n; n='a[$(alpha)]'",
      "x='a[$(alpha)]'; echo $" + "{y:x}",
    ],
    ...[
      "declare -n r='a[$(alpha)]'; r=1",
      "x='a[$(alpha)]'; [[ x -eq 1 ]]",
      "test 0 -eq 0 -o -v 'a[$(alpha)]'",
    ],
    ...["[ ! -v 'a[$(alpha)]' ]", "test '(' -v 'a[$(alpha)]' ')'", "read -r 'a[$(alpha)]' <<< x"],
    ...[
      "printf '%s' x -v 'a[$(alpha)]'",
      "printf -- '%d' 'a[$(alpha)]'",
      "exec {a[\\$\\(alpha\\)]}</dev/null",
    ],
  ])("is read or not trusted: %s", (text) => {
    expect(missed(text)).toEqual([]);
  });

  it("keeps reading plain commands, with subscripts that are numbers", () => {
    for (const text of ["printf -v x %s 1", "test -v x", "printf -v 'a[0]' x", "unset x"])
      expect(readCommands(text).opaque, text).toBe(false);
  });

  it("is in the reading, or the reading says that it cannot tell", { timeout: 120_000 }, () => {
    const check = (text: string) => {
      expect(missed(text)).toEqual([]);
    };
    fc.assert(fc.property(line, check), { numRuns: RUNS });
  });

  it("is told for many lines: a reading that trusts nothing would miss nothing either", () => {
    const lines = fc.sample(line, { seed: 1, numRuns: 5_000 });
    const readable = lines.filter((text) => !readCommands(text).opaque);
    expect(readable.length / lines.length).toBeGreaterThan(0.2);
  });
});

const RUNS = 400;

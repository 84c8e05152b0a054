import { mkdirSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createCaller, type FakeWorkspace, openFakeWorkspace } from "../fake-workspace.ts";
import { createRunnerTools } from "../runner-tools.ts";
import type { ToolOutcome } from "../tool.ts";

let workspace: FakeWorkspace;
let call: (name: string, input: unknown) => Promise<ToolOutcome>;
let age = 0;

/** Writes a file that is older than the one before it. */
function put(name: string, content = "") {
  const file = join(workspace.folder, name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
  age++;
  utimesSync(file, 1_700_000_000 - age, 1_700_000_000 - age);
}

beforeAll(async () => {
  workspace = await openFakeWorkspace();
  call = createCaller(createRunnerTools(), workspace);
  put("src/b.ts", "const needle = 1;\n");
  put("src/a.ts", "one\ntwo\nNeedle\nfour\nfive\n");
  put("src/deep/er/c.tsx", "needle-with-dash\n");
  put("top.md", "-e --version\nneedle: 5 (a.b) \\d\n");
  put(".git/config", "needle\n");
  put("node_modules/x/index.ts", "needle\n");
  put("odd:1:name\nx.txt", "needle\n");
  put("binary.bin", "needle\0needle\n");
  put("-rf", "needle\n");
  writeFileSync(join(workspace.machineFolder, "outside.ts"), "needle");
  symlinkSync("..", join(workspace.folder, "up"));
  symlinkSync("src", join(workspace.folder, "again"));
  await call("bash", { command: "mkfifo pipe" });
});
afterAll(() => workspace[Symbol.asyncDispose]());

describe("glob", () => {
  const glob = async (pattern: string, path?: string) =>
    (await call("glob", { pattern, ...(path ? { path } : {}) })).output.split("\n");

  it("finds files by pattern, newest first", async () => {
    expect(await glob("**/*.ts")).toEqual(["src/b.ts", "src/a.ts"]);
    expect(await glob("**/*.{ts,tsx}")).toEqual(["src/b.ts", "src/a.ts", "src/deep/er/c.tsx"]);
    expect(await glob(`${workspace.sandbox.workspacePath}/src/*.ts`)).toEqual([
      "src/b.ts",
      "src/a.ts",
    ]);
    expect(await glob("[ab].ts", "src")).toEqual(["src/b.ts", "src/a.ts"]);
    expect(await glob("src/b.ts")).toEqual(["src/b.ts"]);
    expect(await glob("nothing*")).toEqual(["No files match."]);
  });

  it("enters .git and node_modules only when they are named", async () => {
    expect(await glob(".git/*")).toEqual([".git/config"]);
    expect(await glob("node_modules/**")).toEqual(["node_modules/x/index.ts"]);
    expect(await glob("index.ts", "node_modules/x")).toEqual(["node_modules/x/index.ts"]);
  });

  it("goes through no link", async () => {
    expect(await glob("up/*")).toEqual(["No files match."]);
    expect(await glob("up/**/outside.ts")).toEqual(["No files match."]);
    expect(await glob("again/**")).toEqual(["No files match."]);
    for (const path of ["up", "..", "/etc"]) {
      expect((await call("glob", { pattern: "*", path })).error).toMatch(/outside the workspace/);
    }
    expect((await call("glob", { pattern: "../*" })).error).toMatch(/cannot contain/);
    expect((await call("glob", { pattern: "/etc/*" })).error).toMatch(/outside the workspace/);
  });

  it("says when there are too many, or too many alternatives", async () => {
    const folder = join(workspace.folder, "many");
    mkdirSync(folder);
    for (let i = 0; i < 1100; i++) writeFileSync(join(folder, `f${i}`), "");
    const found = await glob("many/*");
    expect(found.length).toBe(1001);
    expect(found.at(-1)).toMatch(/100 older ones left out/);
    const pattern = "{a,b}".repeat(12);
    expect((await call("glob", { pattern })).error).toMatch(/too many alternatives/);
  });

  it("bears folders without end", async () => {
    const script = "mkdir -p pit && cd pit && for i in {1..300}; do mkdir d && cd d; done";
    expect((await call("bash", { command: script })).error).toBeNull();
    expect((await glob("pit/**")).at(-1)).toMatch(/not everything was searched/);
  });

  it("wants a folder", async () => {
    expect((await call("glob", { pattern: "*", path: "src/a.ts" })).error).toMatch(/is a file/);
  });
});

describe("grep", () => {
  const grep = (pattern: string, more = {}) => call("grep", { pattern, ...more });

  it("finds lines, and skips .git, node_modules and what is not text", async () => {
    const { output, error } = await grep("needle");
    expect(error).toBeNull();
    expect(output.split("\n").sort()).toEqual(
      [
        "-rf:1: needle",
        "src/b.ts:1: const needle = 1;",
        "src/deep/er/c.tsx:1: needle-with-dash",
        "top.md:2: needle: 5 (a.b) \\d",
        "odd:1:name\\nx.txt:1: needle",
      ].sort(),
    );
  });

  it("takes a folder, a file, a glob, and letters of any case", async () => {
    const inSrc = await grep("needle", { path: "src", ignoreCase: true, glob: "*.ts" });
    expect(inSrc.output.split("\n").sort()).toEqual([
      "src/a.ts:3: Needle",
      "src/b.ts:1: const needle = 1;",
    ]);
    expect(
      (await grep("two", { path: `${workspace.sandbox.workspacePath}/src/a.ts` })).output,
    ).toBe("src/a.ts:2: two");
    const braces = await grep("needle", { glob: "src/**/*.{tsx,md}" });
    expect(braces.output).toBe("src/deep/er/c.tsx:1: needle-with-dash");
    expect((await grep("needle", { path: "node_modules" })).output).toBe(
      "node_modules/x/index.ts:1: needle",
    );
    expect((await grep("needle", { path: "-rf" })).output).toBe("-rf:1: needle");
  });

  it("shows lines around, and no more than asked for", async () => {
    expect((await grep("Needle", { context: 1 })).output).toBe(
      "src/a.ts-2- two\nsrc/a.ts:3: Needle\nsrc/a.ts-4- four",
    );
    const { output } = await grep(".", { path: "src/a.ts", limit: 2 });
    expect(output).toMatch(/^src\/a\.ts:1: one\nsrc\/a\.ts:2: two\n\[… there may be more/);
  });

  it("takes a pattern for a pattern, whatever it looks like", async () => {
    expect((await grep("-e --version")).output).toBe("top.md:1: -e --version");
    expect((await grep("--version")).output).toBe("top.md:1: -e --version");
    expect((await grep("\\(a\\.b\\) \\\\d$")).output).toMatch(/^top\.md:2:/);
    expect((await grep("needle: \\d\\b")).output).toMatch(/^top\.md:2:/);
    expect((await grep(`$(touch ${workspace.sandbox.workspacePath}/pwned)`)).output).toBe(
      "No matches.",
    );
    expect((await grep("pwned", { glob: "--pre=touch" })).output).toBe("No matches.");
    expect((await call("glob", { pattern: "pwned" })).output).toBe("No files match.");
  });

  it("finds nothing in files of secrets, unless they are named", async () => {
    put("conf/.env", "hidden=needle-in-env\n");
    const found = async (input: object) =>
      (await call("grep", { pattern: "needle-in-env", ...input })).output;
    expect(await found({})).toBe("No matches.");
    expect(await found({ path: "conf/.env" })).toContain("hidden=");
    expect(await found({ glob: ".env" })).toContain("hidden=");
  });

  it("says what is wrong with a pattern or a path", async () => {
    expect((await grep("(")).error).toMatch(/^The search failed: .*parenthes/);
    expect((await grep("a\nb")).error).toMatch(/line by line/);
    expect((await grep("a", { path: "nowhere" })).error).toMatch(/No such file/);
    expect((await grep("root", { path: "/etc/passwd" })).error).toMatch(/outside the workspace/);
  });

  it("bears a line without end", async () => {
    await call("bash", {
      command:
        "{ echo needle; head -c 50M /dev/zero | tr '\\0' needle; } > one; tr -d '\\n' < one > line; rm one",
    });
    const { output } = await grep("^needle", { path: "line" });
    expect(output.length).toBeLessThan(600);
    await call("bash", { command: "rm line" });
  }, 20_000);

  it("uses ripgrep where there is one", async () => {
    const rg = "#!/bin/bash\nprintf 'src/a.ts\\0007:'; printf '<%s>' \"$@\"; echo\n";
    await call("write", { path: "bin/rg", content: rg });
    const run = workspace.sandbox.run.bind(workspace.sandbox);
    const sandbox = {
      ...workspace.sandbox,
      run: (command: Parameters<typeof run>[0]) =>
        run({ ...command, env: { PATH: `${workspace.sandbox.workspacePath}/bin:/usr/bin:/bin` } }),
    };
    await call("bash", { command: `chmod +x ${workspace.sandbox.workspacePath}/bin/rg` });
    const { output, error } = await createCaller(createRunnerTools(), { ...workspace, sandbox })(
      "grep",
      {
        pattern: "-x",
        glob: "*.ts",
        path: "src",
        context: 2,
      },
    );
    expect(error).toBeNull();
    expect(output).toBe(
      "src/a.ts:7: <--no-config><--no-heading><--hidden><--sort=path><--context=2><--line-number><--with-filename><--null><--color=never><--glob=*.ts><--glob=!**/.git/**><--glob=!**/node_modules/**><--regexp=-x><--><./src>",
    );
  });
});

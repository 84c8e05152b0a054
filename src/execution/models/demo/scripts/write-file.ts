/** "Write a file", "make a script": writes a small file that does what its name says, and tries it. */
import { excerpt, fenced, type MadeCall, play, type Script, succeeded } from "../script.ts";

const ASKS =
  /\b(write|make|create|add|generate|build)\b[^.?!]*\b(file|script|program|note|notes|readme|document|list|poem)\b/i;
const NAMED = /(?<![\w/.])([\w-]{1,60}\.[a-z][a-z0-9]{0,4})\b/i;

interface Made {
  path: string;
  content: string;
  check: string;
}

export const writeFile: Script = {
  name: "write-file",
  fits: ({ said }) =>
    ASKS.test(said) || (/\b(write|make|create)\b/i.test(said) && NAMED.test(said)),
  next(scene) {
    const { path, content, check } = makeFile(scene.said);
    const stages = [
      {
        say: `I write \`${path}\`, then try it.`,
        call: { tool: "write", input: { path, content } },
        isNeeded: true,
      },
      { say: "Now I check that it works.", call: { tool: "bash", input: { command: check } } },
    ];
    return play({ stages, close: (done) => describe(path, done) }, scene);
  },
};

function makeFile(said: string): Made {
  const named = NAMED.exec(said)?.[1];
  const ending = named?.split(".").at(-1)?.toLowerCase() ?? endingOf(said);
  const path = named ?? (isScript(ending) ? `hello.${ending}` : "notes.md");
  if (ending === "py")
    return {
      path,
      content: 'print("Hello from a script made in Muster.")\n',
      check: `python3 ${path}`,
    };
  if (ending === "sh")
    return {
      path,
      content: '#!/usr/bin/env bash\necho "Hello from a script made in Muster."\n',
      check: `bash ${path}`,
    };
  if (ending === "js" || ending === "mjs") {
    return {
      path,
      content: 'console.log("Hello from a script made in Muster.");\n',
      check: `node ${path}`,
    };
  }
  if (ending === "json") {
    return {
      path,
      content: `${JSON.stringify({ madeBy: "the demo model", wish: parseRequest(said) }, null, 2)}\n`,
      check: `cat ${path}`,
    };
  }
  const content = `# ${titleOf(path)}\n\nYou asked: ${parseRequest(said)}\n\nThe demo model wrote this file. A real model would have filled it with what you asked for.\n`;
  return { path, content, check: `cat ${path}` };
}

function endingOf(said: string): string {
  if (/\bpython\b/i.test(said)) return "py";
  if (/\b(node|javascript)\b/i.test(said)) return "mjs";
  return /\b(script|program|bash|shell)\b/i.test(said) ? "sh" : "md";
}

function isScript(ending: string): boolean {
  return ["py", "sh", "js", "mjs"].includes(ending);
}

function parseRequest(said: string): string {
  return said.replace(/\s+/g, " ").slice(0, 300);
}

function titleOf(path: string): string {
  const name = path.replace(/\.\w+$/, "").replaceAll("-", " ");
  return `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
}

function describe(path: string, [written, tried]: readonly (MadeCall | null)[]): string {
  if (!succeeded(written)) {
    return `\`${path}\` could not be written: ${excerpt(written?.result?.text ?? "there was no result", 3, 300)}`;
  }
  const text = excerpt(tried?.result?.text ?? "");
  const heading = succeeded(tried) ? "Its output:" : "It failed:";
  const outcome = tried && text !== "" ? ` ${heading}\n\n${fenced(text)}` : "";
  return `\`${path}\` is written; see the Changes panel.${outcome}`;
}

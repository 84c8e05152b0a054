/** Checks the requirements around us: the right Node, a working sandbox, git. */
import { execFile } from "node:child_process";
import { type Finding, fail, ok, warn } from "./finding.ts";

const OLDEST_NODE = 24;
const ANSWER_WITHIN_MS = 5_000;

export function checkNode(version = process.versions.node): Finding {
  const major = Number(version.split(".")[0]);
  if (major >= OLDEST_NODE) return ok("node", `Node ${version}`);
  return fail(
    "node",
    `Node ${version} is too old`,
    `Install Node ${OLDEST_NODE} or newer, or use npm start, which brings its own.`,
  );
}

export async function checkGit(searchPath: string | undefined): Promise<Finding> {
  const tried = await tryProgram("git", ["--version"], searchPath);
  if (tried.kind === "works") return ok("git", tried.output.trim());
  return warn(
    "git",
    tried.kind === "missing" ? "git is not installed" : `git does not work: ${tried.why}`,
    "sudo apt install git",
  );
}

type ProgramCheck =
  | { kind: "works"; output: string }
  | { kind: "missing" }
  | { kind: "broken"; why: string };

function tryProgram(
  file: string,
  words: string[],
  searchPath: string | undefined,
): Promise<ProgramCheck> {
  return new Promise((resolve) => {
    const env = { PATH: searchPath };
    execFile(file, words, { timeout: ANSWER_WITHIN_MS, env }, (error, stdout, stderr) => {
      if (!error) return resolve({ kind: "works", output: stdout });
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return resolve({ kind: "missing" });
      resolve({ kind: "broken", why: stderr.trim().split("\n")[0] || error.message });
    });
  });
}

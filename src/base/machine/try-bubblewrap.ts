/**
 * Tries bubblewrap with the options that the runner depends on, for callers that only need to know
 * if it works.
 */
import { execFile } from "node:child_process";
import { findInstallFix, findNamespaceFix, isNamespaceError } from "./sandbox-fix.ts";

const ANSWER_WITHIN_MS = 10_000;
const OPTIONS = [
  ...["--unshare-all", "--unshare-user", "--disable-userns", "--die-with-parent", "--new-session"],
  ...["--uid", "1000", "--gid", "1000", "--cap-drop", "ALL", "--ro-bind", "/", "/"],
  ...["--proc", "/proc", "--dev", "/dev", "--remount-ro", "/proc", "--remount-ro", "/", "true"],
];

export type BubblewrapTrial =
  | { works: true }
  /** `fix` names the command that repairs the machine, if there is one. */
  | { works: false; why: string; fix: ReturnType<typeof findInstallFix | typeof findNamespaceFix> };

export function tryBubblewrap(path: string): Promise<BubblewrapTrial> {
  if (process.platform !== "linux") {
    const why = "Bubblewrap works on Linux only. Start a runner on a Linux machine.";
    return Promise.resolve({ works: false, why, fix: null });
  }
  return new Promise((resolve) => {
    const limits = { timeout: ANSWER_WITHIN_MS, env: { PATH: path } };
    execFile("bwrap", OPTIONS, limits, (error, _stdout, stderr) => {
      if (!error) return resolve({ works: true });
      if ((error as NodeJS.ErrnoException).code === "ENOENT") {
        return resolve({
          works: false,
          why: "Bubblewrap is not installed.",
          fix: findInstallFix(path),
        });
      }
      const message = stderr.trim().split("\n")[0] || error.message;
      const fix = isNamespaceError(message) ? findNamespaceFix() : null;
      resolve({ works: false, why: `Bubblewrap does not work here: ${message}`, fix });
    });
  });
}

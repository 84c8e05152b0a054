/** The lines that `muster up` prints when it is ready. */
import { SANDBOX_FIXES, type SandboxFix } from "#protocol/reports/sandboxes.ts";

export interface Readiness {
  url: string;
  keyFile: string;
  /** A fresh sign-in link; null where the output may be kept or read by others. */
  link: string | null;
  /** Sandbox of agents' commands on this machine. */
  sandbox: SandboxState;
}

export type SandboxState =
  | { kind: "works" }
  | { kind: "setting" }
  /** A person allowed commands without a sandbox, for as long as there is none. */
  | { kind: "consent"; fix: SandboxFix | null }
  | { kind: "missing"; why: string; fix: SandboxFix | null }
  /** No runner is started here. */
  | { kind: "elsewhere" };

export function bannerOf({ url, keyFile, link, sandbox }: Readiness): string {
  const open =
    link === null
      ? [`  Open   ${url}`, "         (to sign in, create a link with: npx muster login-link)"]
      : [
          `  Open   ${link}`,
          "         (signs you in once, within 15 minutes; `npx muster login-link` creates another)",
        ];
  const warning = sandboxLines(sandbox);
  return [
    "",
    `  Muster is ready at ${url}`,
    "",
    ...open,
    `  Key    ${keyFile}`,
    `  Stop   Ctrl-C`,
    ...(warning.length === 0 ? [] : ["", ...warning.map((line) => `  ${line}`)]),
    "",
    "",
  ].join("\n");
}

function sandboxLines(sandbox: SandboxState): string[] {
  switch (sandbox.kind) {
    case "works":
    case "elsewhere":
      return [];
    case "setting":
      return ["Agents run commands on this machine WITHOUT A SANDBOX (MUSTER_SANDBOX=local)."];
    case "consent":
      return [
        "Agents run commands on this machine WITHOUT A SANDBOX, as allowed on the page.",
        ...fixLines(sandbox.fix),
      ];
    case "missing":
      return [
        `Agents cannot run commands yet. ${sandbox.why}`,
        ...fixLines(sandbox.fix),
        "The page shows your other options.",
      ];
  }
}

function fixLines(fix: SandboxFix | null): string[] {
  return fix === null ? [] : [`To get a sandbox, run: ${SANDBOX_FIXES[fix]}`];
}

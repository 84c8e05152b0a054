/** The sandbox of a runner's machine as it is reported, stored and shown. */
import * as z from "zod";

/**
 * Commands that give a machine a working sandbox. A runner names one and never sends the text: what
 * people copy from a page must not come from somebody else's machine.
 */
export const SANDBOX_FIXES = {
  apt: "sudo apt-get install -y bubblewrap",
  dnf: "sudo dnf install -y bubblewrap",
  pacman: "sudo pacman -S --noconfirm bubblewrap",
  apk: "sudo apk add bubblewrap",
  apparmor_userns: "sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0",
  debian_userns: "sudo sysctl -w kernel.unprivileged_userns_clone=1",
  max_userns: "sudo sysctl -w user.max_user_namespaces=15000",
} as const;
export type SandboxFix = keyof typeof SANDBOX_FIXES;

export const sandboxReportSchema = z.object({
  /** `bubblewrap`, or `local`: no isolation. */
  kind: z.string().max(50),
  /** Why there is none; null when there is. */
  why: z.string().max(2000).nullable(),
  /** The command that mends it, where one does. */
  fix: z
    .enum(Object.keys(SANDBOX_FIXES) as [SandboxFix, ...SandboxFix[]])
    .nullable()
    .default(null),
  /** How each limit is kept; null when it is not. */
  enforced: z.record(z.string(), z.string().nullable()),
});
export type SandboxReport = z.infer<typeof sandboxReportSchema>;

/** Refusal code of a machine that has no sandbox; a turn waits with it until there is one. */
export const SANDBOX_UNAVAILABLE = "sandbox_unavailable";

/** True where commands are kept apart from the machine. A machine that says nothing is not. */
export function isIsolated(report: Pick<SandboxReport, "kind" | "why"> | null): boolean {
  return report !== null && report.kind === "bubblewrap" && (report.why ?? null) === null;
}

/** True where commands run with the rights of the runner's own user. */
export function isUnsandboxed(report: Pick<SandboxReport, "kind" | "why"> | null): boolean {
  return report !== null && report.kind === "local" && (report.why ?? null) === null;
}

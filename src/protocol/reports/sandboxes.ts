/** Words about sandboxes that pages and programs share. Needs no library. */

/**
 * Commands that give a machine a working sandbox. A runner names one and never sends the text:
 * commands that people copy from a page must not come from somebody else's machine.
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

/** Refusal code of a machine without a sandbox; a turn waits with it until there is one. */
export const SANDBOX_UNAVAILABLE = "sandbox_unavailable";

/** True for a machine whose sandbox isolates commands. A machine without a report has none. */
export function isIsolated(report: { kind: string; why: string | null } | null): boolean {
  return report !== null && report.kind === "bubblewrap" && (report.why ?? null) === null;
}

/** True for a machine where commands run with the rights of the runner's own user. */
export function isUnsandboxed(report: { kind: string; why: string | null } | null): boolean {
  return report !== null && report.kind === "local" && (report.why ?? null) === null;
}

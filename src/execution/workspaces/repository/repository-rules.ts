/** Rules for the repositories that a runner opens, and names for the branches of sessions. */
import { Refusal } from "#base/refusal.ts";
import { isBranchName } from "#protocol/names/branch-name.ts";
import type { RepositoryAddress } from "#protocol/names/repository-address.ts";

export type UsableRepository = Extract<RepositoryAddress, { kind: "web" | "path" }>;

/** Refuses an address that this runner cannot open, and a path that the server did not grant. */
export function requireUsable(address: RepositoryAddress, mayUsePath: boolean): UsableRepository {
  switch (address.kind) {
    case "web":
      return address;
    case "path":
      if (!mayUsePath) throw pathNotGranted();
      return address;
    case "ssh":
      throw refused("SSH is not available in the sandbox. Use the repository's https:// address.");
    case "unknown":
      throw refused(
        "This is not a repository of the organisation. Use the full address: https://…, or an absolute path.",
      );
  }
}

export function pathNotGranted(): Refusal {
  return new Refusal(
    "forbidden",
    "folder_not_allowed",
    "The session names a folder on the runner's machine, and nobody with that right has allowed it. Use a repository's web address, or ask an admin.",
  );
}

/** Name for the branch of a session that git accepts. */
export function branchFor(sessionId: string): string {
  const name = sessionId.replace(/[^A-Za-z0-9_-]+/g, "-").replace(/^-+/, "");
  return `muster/${name.slice(0, 100) || "session"}`;
}

/** Refuses a name that could be taken for anything but a branch. */
export function checkBranch(branch: string): string {
  if (!isBranchName(branch)) throw refused("This is not a valid branch name. Check its spelling.");
  return branch;
}

export function refused(text: string): Refusal {
  return new Refusal("invalid", "workspace_refused", text);
}

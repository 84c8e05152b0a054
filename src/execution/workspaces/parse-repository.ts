/** Understands the address of a git repository, and refuses those that could do more than be read. */
import { isAbsolute, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { Refusal } from "#base/refusal.ts";

export type Repository =
  | { kind: "web"; url: string; host: string }
  /** On this machine. */
  | { kind: "path"; path: string };

const MAX_CHARS = 2000;

export function parseRepository(address: string): Repository {
  const text = address.trim();
  const odd = text === "" || text.length > MAX_CHARS || text.startsWith("-");
  if (odd || /[\p{Cc}\p{Cf}]/u.test(text)) {
    throw refused("This is no address of a repository. Use https://…, file://… or a path.");
  }
  if (/^[a-z0-9+.-]+::/i.test(text)) {
    throw refused("Addresses with a helper program (name::…) are not taken. Use https://….");
  }
  if (isAbsolute(text)) return { kind: "path", path: normalize(text) };
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(text) || !URL.canParse(text)) {
    throw refused(
      /^[^/\s]+:/.test(text)
        ? "SSH is not available in the sandbox. Use the repository's https:// address."
        : "Use the full address: https://…, file://… or an absolute path.",
    );
  }
  return parseUrl(new URL(text));
}

/** A name for the branch a session works on, which git takes. */
export function branchFor(sessionId: string): string {
  const name = sessionId.replace(/[^A-Za-z0-9_-]+/g, "-").replace(/^-+/, "");
  return `muster/${name.slice(0, 100) || "session"}`;
}

/** Refuses a name that could be taken for anything but a branch. */
export function checkBranch(branch: string): string {
  const odd = branch.startsWith("-") || branch.length > 250 || /[^\p{L}\p{N}._/+@#-]/u.test(branch);
  if (odd || branch.includes("..") || branch.includes("@{")) {
    throw refused("This is no name of a branch. Check its spelling.");
  }
  return branch;
}

function parseUrl(url: URL): Repository {
  if (url.protocol === "file:") return { kind: "path", path: pathOf(url) };
  if (url.protocol !== "https:" && url.protocol !== "http:") {
    throw refused(
      `${url.protocol}// is not available in the sandbox. Use the repository's https:// address.`,
    );
  }
  if (url.username || url.password) {
    throw refused(
      "The address holds a password, which would be stored and shown. Use the address without it.",
    );
  }
  return { kind: "web", url: url.href, host: url.hostname };
}

function pathOf(url: URL): string {
  try {
    return normalize(fileURLToPath(url));
  } catch {
    throw refused("A file:// address takes no host: file:///path/to/repository.");
  }
}

export function refused(text: string): Refusal {
  return new Refusal("invalid", "workspace_refused", text);
}

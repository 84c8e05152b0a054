/**
 * Web address of a reference; pure. Anybody can write a reference, so the accepted forms are
 * strict.
 */

const GITHUB = /^github:([A-Za-z0-9-]{1,39}\/[\w.-]{1,100}):(pr|issue):([1-9]\d{0,9})$/;

/** `github:acme/api:pr:42` leads to that pull request. Null for references without an address. */
export function contextUrl(reference: string | null): string | null {
  const [, repo = "", kind = "", number = ""] = GITHUB.exec(reference ?? "") ?? [];
  if (repo === "" || /\/\.{1,2}$/.test(repo)) return null;
  return `https://github.com/${repo}/${kind === "pr" ? "pull" : "issues"}/${number}`;
}

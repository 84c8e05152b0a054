/**
 * Hosts that web_fetch reads without asking: documentation, questions and answers, source code. Package
 * registries are not among them; an organisation allows its own with a rule.
 */

const HOSTS: ReadonlySet<string> = new Set([
  "github.com",
  "api.github.com",
  "raw.githubusercontent.com",
  "docs.github.com",
  "gitlab.com",
  "unpkg.com",
  "nodejs.org",
  "developer.mozilla.org",
  "web.dev",
  "www.typescriptlang.org",
  "react.dev",
  "vuejs.org",
  "svelte.dev",
  "angular.dev",
  "vite.dev",
  "vitest.dev",
  "tailwindcss.com",
  "zod.dev",
  "deno.com",
  "docs.deno.com",
  "bun.sh",
  "docs.python.org",
  "www.python.org",
  "peps.python.org",
  "numpy.org",
  "pandas.pydata.org",
  "docs.djangoproject.com",
  "docs.rs",
  "doc.rust-lang.org",
  "www.rust-lang.org",
  "rust-lang.org",
  "go.dev",
  "pkg.go.dev",
  "docs.oracle.com",
  "kotlinlang.org",
  "learn.microsoft.com",
  "ruby-doc.org",
  "docs.ruby-lang.org",
  "guides.rubyonrails.org",
  "www.php.net",
  "en.cppreference.com",
  "cmake.org",
  "www.postgresql.org",
  "www.sqlite.org",
  "sqlite.org",
  "redis.io",
  "docs.docker.com",
  "kubernetes.io",
  "nginx.org",
  "git-scm.com",
  "www.gnu.org",
  "man7.org",
  "www.kernel.org",
  "www.rfc-editor.org",
  "datatracker.ietf.org",
  "www.w3.org",
  "html.spec.whatwg.org",
  "stackoverflow.com",
  "superuser.com",
  "serverfault.com",
  "unix.stackexchange.com",
  "wikipedia.org",
  "www.wikipedia.org",
]);
/** Suffixes of hosts that use all names under them for their own pages. */
const SUFFIXES = [".wikipedia.org"] as const;

/**
 * True for an https URL of a known host at the default port, without credentials, and without anything
 * that could be somebody's data: a requested URL ends up in logs, and on some sites in public.
 */
export function isKnownPlace(url: URL): boolean {
  if (url.protocol !== "https:" || url.port !== "" || url.username !== "" || url.password !== "")
    return false;
  const host = url.hostname.toLowerCase();
  const isKnown = HOSTS.has(host) || SUFFIXES.some((suffix) => host.endsWith(suffix));
  return isKnown && !carriesData(url);
}

const MAX_PART_CHARS = 200;
const MAX_PATH_CHARS = 400;

function carriesData({ pathname, search }: URL): boolean {
  if (search.length > MAX_PART_CHARS || pathname.length > MAX_PATH_CHARS) return true;
  const text = `${pathname}${search}`;
  return text.split("/").some((part) => part.length > MAX_PART_CHARS) || looksEncoded(text);
}

/** Hash of a commit. Longer hex strings are something else. */
const COMMIT = /^[0-9a-f]{40}$/;
const LONG_HEX = /[0-9a-f]{41,}/i;
const MIN_ENCODED_CHARS = 40;

function looksEncoded(text: string): boolean {
  const plain = text.replaceAll(/%([0-7][0-9a-f])/gi, (_all, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
  if (LONG_HEX.test(plain)) return true;
  return plain.split(/[^\w+-]/).some(isMixedLikeBase64);
}

/** True for letters and digits mixed as in base64, without dashes between words. */
function isMixedLikeBase64(run: string): boolean {
  if (run.length < MIN_ENCODED_CHARS || COMMIT.test(run)) return false;
  const count = (pattern: RegExp) => run.match(pattern)?.length ?? 0;
  const separators = count(/[-_+]/g);
  if (separators > run.length / 12) return false;
  return separators === 0 || (count(/\d/g) > 3 && count(/[A-Z]/g) > 3 && count(/[a-z]/g) > 3);
}

/**
 * Allowed targets of links in untrusted text: other places on the web, an e-mail address, or one of our
 * own pages that only show something. Never a page that signs in or joins, whatever host it names: the
 * server may have names that this page does not know, and signing in with somebody else's link means
 * writing into their account.
 */

/** Pages that only show content, and change nothing by being opened. */
const READABLE =
  /^\/((sessions|inbox|board)(\/[\w-]+){1,2}|inbox|board|memory|memory\/repositories)$/;
const ENTRANCE = /^\/+(sign-in|join)(\/|$)/;
/** Limit of repeated decoding; no server decodes more often. */
const MAX_DECODINGS = 5;

/** Returns the address to follow; undefined when it must stay text. `here` is this page's origin. */
export function foreignLink(address: string, here: string): string | undefined {
  // Browsers drop or convert some of these characters; an honest address has none.
  if (/[\s\\\p{Cc}\p{Cf}]/u.test(address) || /^(#|\?|$)/.test(address)) return undefined;
  if (!URL.canParse(address, here)) return undefined;
  const url = new URL(address, here);
  if (url.protocol === "mailto:") return url.href;
  if (url.protocol !== "http:" && url.protocol !== "https:") return undefined;
  if (url.username !== "" || url.password !== "") return undefined;
  if (ENTRANCE.test(plainPath(url.pathname))) return undefined;
  if (!isThisServer(url, new URL(here))) return url.href;
  const isPlain = url.search === "" && url.hash === "" && READABLE.test(url.pathname);
  return isPlain ? url.pathname : undefined;
}

/** Decodes a path as the most lenient server would. */
function plainPath(path: string): string {
  let plain = path;
  for (let n = 0; n < MAX_DECODINGS; n++) {
    const decoded = plain.replaceAll(/%([0-9a-f]{2})/gi, (_, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    );
    if (decoded === plain) break;
    plain = decoded;
  }
  // Decoded text may contain further `..` segments.
  return new URL(`http://x/${plain.replaceAll("\\", "/")}`).pathname.toLowerCase();
}

/** True for the same host, or for another name of this machine with the same port. */
function isThisServer(url: URL, here: URL): boolean {
  const [name, own] = [hostOf(url), hostOf(here)];
  if (name === own && url.port === here.port) return true;
  // People take a host with and without HTTPS for the same server.
  if (name === own && url.protocol !== here.protocol && url.port === "") return true;
  return isLoopback(name) && isLoopback(own) && url.port === here.port;
}

const hostOf = ({ hostname }: URL) => hostname.toLowerCase().replace(/\.$/, "");

function isLoopback(name: string): boolean {
  return /^(localhost|.+\.localhost|127(\.\d+){3}|0\.0\.0\.0|\[::1?\]|\[::ffff:7f.*\])$/.test(name);
}

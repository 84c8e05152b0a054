/**
 * Where a link in somebody else's text may lead: to other places on the web, to an e-mail address, or
 * to one of our own pages that only show something. Never to a page that signs in or joins, whatever
 * host it names: the server may have names that this page does not know, and signing in with a link
 * that somebody else made means writing into their account.
 */

/** Pages that show what is in their address, and change nothing by being opened. */
const READABLE =
  /^\/((sessions|inbox|board)(\/[\w-]+){1,2}|inbox|board|memory|memory\/repositories)$/;
const ENTRANCE = /^\/+(sign-in|join)(\/|$)/;
/** Encoded more often than this, no server takes it for the same. */
const MAX_DECODINGS = 5;

/** The address to follow; undefined when it is to stay text. `here` is this page's origin. */
export function foreignLink(address: string, here: string): string | undefined {
  // Browsers drop some of these and turn others around; an honest address has none.
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

/** As the most obliging server could read it. */
function plainPath(path: string): string {
  let plain = path;
  for (let n = 0; n < MAX_DECODINGS; n++) {
    const decoded = plain.replaceAll(/%([0-9a-f]{2})/gi, (_, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    );
    if (decoded === plain) break;
    plain = decoded;
  }
  // What was encoded may hold further steps.
  return new URL(`http://x/${plain.replaceAll("\\", "/")}`).pathname.toLowerCase();
}

/** The same host, or another name of this machine with the same port. */
function isThisServer(url: URL, here: URL): boolean {
  const [name, own] = [hostOf(url), hostOf(here)];
  if (name === own && url.port === here.port) return true;
  // With and without HTTPS a host is the same server to a person.
  if (name === own && url.protocol !== here.protocol && url.port === "") return true;
  return isLoopback(name) && isLoopback(own) && url.port === here.port;
}

const hostOf = ({ hostname }: URL) => hostname.toLowerCase().replace(/\.$/, "");

function isLoopback(name: string): boolean {
  return /^(localhost|.+\.localhost|127(\.\d+){3}|0\.0\.0\.0|\[::1?\]|\[::ffff:7f.*\])$/.test(name);
}

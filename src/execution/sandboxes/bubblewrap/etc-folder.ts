/**
 * The `/etc` that commands see: made by us, because the machine's own holds secrets and names, and
 * a runner that is root could read them all. The files that programs need are copied: each mount
 * would cost every command a quarter of a millisecond.
 */
import { cpSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { AGENT_HOME } from "./view.ts";

const OWN_FILES: Readonly<Record<string, string>> = {
  passwd: `root:x:0:0:root:/root:/usr/sbin/nologin
agent:x:1000:1000:Agent:${AGENT_HOME}:/bin/bash
nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin
`,
  group: "root:x:0:\nagent:x:1000:\nnogroup:x:65534:\n",
  hosts: "127.0.0.1 localhost sandbox\n::1 localhost\n",
  hostname: "sandbox\n",
  "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\nservices: files\nprotocols: files\n",
  "resolv.conf": "",
  gitconfig: `[user]
	name = Muster agent
	email = agent@muster.invalid
[init]
	defaultBranch = main
[advice]
	detachedHead = false
`,
};

/** Copied files; never the whole of `ssl` or `pki`, which hold private keys. */
const COPIED = [
  ...["ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime", "timezone", "os-release"],
  ...["protocols", "services", "mime.types", "magic", "inputrc", "host.conf", "debian_version"],
  ...["locale.alias", "locale.conf", "alternatives", "fonts", "terminfo", "perl"],
  ...["ssl/openssl.cnf", "ssl/certs", "ca-certificates"],
  ...["pki/tls/openssl.cnf", "pki/tls/certs", "pki/ca-trust/extracted"],
  ...["java-11-openjdk", "java-17-openjdk", "java-21-openjdk", "java-25-openjdk"],
];

export function makeEtcFolder(folder: string): void {
  mkdirSync(folder, { recursive: true });
  for (const name of COPIED) {
    const from = join("/etc", name);
    if (!existsSync(from)) continue;
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    cpSync(from, join(folder, name), { recursive: true, verbatimSymlinks: true });
  }
  for (const [name, text] of Object.entries(OWN_FILES)) writeFileSync(join(folder, name), text);
}

/** Reads a provider's key: hidden from a terminal, or piped in. */
import { Refusal } from "#base/refusal.ts";
import { askHidden, readLine } from "#surfaces/cli/kit/hidden-input.ts";
import type { CliHost } from "#surfaces/cli/kit/host.ts";

/** Undefined: no key was given, the stored one stays. Null: the person pressed Ctrl-C. */
export async function readKey(
  host: CliHost,
  name: string,
  fromStdin: boolean,
): Promise<string | null | undefined> {
  if (fromStdin) {
    const key = (await readLine(host.stdin))?.trim();
    if (key !== "") return key ?? null;
    throw new Refusal(
      "invalid",
      "key_missing",
      "--key-stdin was given, but standard input is empty. Pipe the key in.",
    );
  }
  if (host.stdin.isTTY !== true) return undefined;
  const key = await askHidden(host, `Key of ${name} (hidden; Enter keeps the present one): `);
  return key === "" ? undefined : key;
}

/** The owner's key file, and the local runner's token file: written once, readable by their user alone. */
import { existsSync, readFileSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import { writePrivateFile } from "#base/machine/private-files.ts";
import type { Auth } from "#features/auth/index.ts";

export interface Owner {
  userId: string;
  orgId: string;
  keyFile: string;
}

export async function ensureOwner(auth: Auth, home: string): Promise<Owner> {
  const keyFile = join(home, "owner.key");
  const { owner, key } = await auth.ensureOwner(ownerName());
  if (key !== undefined) writePrivateFile(keyFile, `${key}\n`);
  // A lost file, or one that a crash kept from being written, is replaced with a new key.
  else if (!existsSync(keyFile) || (await auth.authenticate(readSecret(keyFile))) === undefined) {
    writePrivateFile(keyFile, `${await auth.renewOwnerKey(owner)}\n`);
  }
  return { userId: owner.id, orgId: owner.org_id, keyFile };
}

export async function ensureRunnerToken(
  auth: Auth,
  home: string,
  keyFile: string,
): Promise<string> {
  const tokenFile = join(home, "runner.token");
  if (existsSync(tokenFile) && (await auth.authenticate(readSecret(tokenFile)))) return tokenFile;
  const owner = await auth.authenticate(readSecret(keyFile));
  if (!owner) throw new Error(`${keyFile} opens nothing`);
  const { token } = await auth.createServerToken(owner.principal.orgId, "this machine");
  writePrivateFile(tokenFile, `${token}\n`);
  return tokenFile;
}

export function readSecret(path: string): string {
  return readFileSync(path, "utf8").trim();
}

function ownerName(): string {
  try {
    return userInfo().username;
  } catch {
    // A user without an entry in the password file, as in some containers.
    return "owner";
  }
}

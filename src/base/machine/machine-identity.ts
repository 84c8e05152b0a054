/**
 * A runner's identity: a key pair that stays in the runner's own folder. The server knows the
 * public key, so a machine stays the same across a new token and a restored database. The proof is
 * bound to the token that is sent with it: neither a token alone nor a recorded proof lets another
 * machine impersonate this one.
 */
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
  verify,
} from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Refusal } from "../refusal.ts";
import { ensurePrivateFile, writePrivateFile } from "./private-files.ts";

export function identityFile(folder: string): string {
  return join(folder, "identity.key");
}

export interface IdentityProof {
  /** Ed25519, SPKI, base64url. */
  publicKey: string;
  signature: string;
}

export interface MachineIdentity {
  /** Fingerprint of the public key, which the server stores. */
  fingerprint: string;
  prove(token: string, bootId: string): IdentityProof;
}

/** Reads the identity in a runner's folder, and creates it on the first call. */
export function ensureMachineIdentity(folder: string): MachineIdentity {
  const file = identityFile(folder);
  if (!existsSync(file)) {
    const { privateKey } = generateKeyPairSync("ed25519");
    writePrivateFile(file, privateKey.export({ type: "pkcs8", format: "pem" }) as string);
  }
  ensurePrivateFile(file);
  return identityOf(readKey(file));
}

/**
 * Fingerprint of the runner in a folder; undefined if no runner of this version has worked there.
 */
export function findFingerprint(folder: string): string | undefined {
  const file = identityFile(folder);
  return existsSync(file) ? identityOf(readKey(file)).fingerprint : undefined;
}

/** Fingerprint of the machine that made the proof; undefined if the proof is invalid. */
export function verifyProof(
  { publicKey, signature }: IdentityProof,
  tokenHash: string,
  bootId: string,
): string | undefined {
  try {
    const spki = Buffer.from(publicKey, "base64url");
    const key = createPublicKey({ key: spki, type: "spki", format: "der" });
    if (key.asymmetricKeyType !== "ed25519") return undefined;
    const good = verify(
      null,
      statement(tokenHash, bootId),
      key,
      Buffer.from(signature, "base64url"),
    );
    // Hashed in one encoding: a key has one fingerprint, however it was encoded on the wire.
    return good ? fingerprintOf(key) : undefined;
  } catch {
    return undefined;
  }
}

function identityOf(privateKey: KeyObject): MachineIdentity {
  const publicKey = createPublicKey(privateKey);
  return {
    fingerprint: fingerprintOf(publicKey),
    prove(token, bootId) {
      const tokenHash = createHash("sha256").update(token).digest("hex");
      return {
        publicKey: spkiOf(publicKey).toString("base64url"),
        signature: sign(null, statement(tokenHash, bootId), privateKey).toString("base64url"),
      };
    },
  };
}

function statement(tokenHash: string, bootId: string): Buffer {
  return Buffer.from(JSON.stringify(["muster runner identity", tokenHash, bootId]));
}

function spkiOf(key: KeyObject): Buffer {
  return key.export({ type: "spki", format: "der" }) as Buffer;
}

function fingerprintOf(key: KeyObject): string {
  return createHash("sha256").update(spkiOf(key)).digest("hex");
}

function readKey(file: string): KeyObject {
  try {
    return createPrivateKey(readFileSync(file, "utf8"));
  } catch (error) {
    throw new Refusal(
      "invalid",
      "identity_unreadable",
      `${file} holds no key. The key proves which machine this is: restore it from a backup. Without one, move the file away: the next start creates a new identity, and sessions with files here wait until the old runner is removed (npx muster runners rm).`,
      { cause: error },
    );
  }
}

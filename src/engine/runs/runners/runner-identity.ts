/**
 * Resolves the runner row of a registration. A machine proves itself with the key of its folder and
 * keeps its row, and with it the sessions whose files it holds, whatever token it uses. Runners of
 * earlier versions have no key: they are known by token, host, folder and profile.
 */
import { idFrom } from "#base/ids.ts";
import { type IdentityProof, verifyProof } from "#base/machine/machine-identity.ts";
import { Refusal } from "#base/refusal.ts";
import type { Reader } from "#base/store/index.ts";
import type { Principal } from "#engine/requests/principal.ts";
import type { RunnerRow } from "#engine/schema.ts";
import type { RunnerProfile } from "#protocol/frames.ts";
import { findRunner, findRunnerOfMachine } from "./runner-queries.ts";

type RunnerPrincipal = Extract<Principal, { kind: "runner" }>;

export interface RunnerIdentity {
  id: string;
  /** Fingerprint of the machine's key; null when it has none. */
  machine: string | null;
}

export interface Claimant {
  principal: RunnerPrincipal;
  bootId: string;
  profile: RunnerProfile;
  identity?: IdentityProof | undefined;
}

/** Id of a runner without a key: the same for the same credential, host, folder and profile. */
export function runnerIdOf(
  credentialId: string,
  { hostname, folder, profile }: RunnerProfile,
): string {
  return idFrom("rnr", JSON.stringify([credentialId, hostname, folder, profile]));
}

export async function identifyRunner(reader: Reader, claimant: Claimant): Promise<RunnerIdentity> {
  const { principal, profile } = claimant;
  const machine = provenMachine(claimant);
  const byToken = runnerIdOf(principal.credentialId, profile);
  if (machine === null) return { id: byToken, machine };
  const known = await findRunnerOfMachine(reader, principal.orgId, machine);
  if (known !== undefined) return { id: known, machine };
  // A runner that was known by its token alone takes on its machine's key, once.
  const before = await findRunner(reader, byToken);
  if (before && before.machine === null) return { id: byToken, machine };
  return { id: idFrom("rnr", JSON.stringify([principal.orgId, machine])), machine };
}

/** Refuses to give one machine's row to another. Asked while the row is locked. */
export function requireSameMachine(
  known: RunnerRow | undefined,
  { machine }: RunnerIdentity,
): void {
  if (!known || known.machine === null || known.machine === machine) return;
  throw new Refusal(
    "conflict",
    "identity_required",
    `The runner ${known.name} identifies itself with the key in its folder, and this one did not. Start it with a current version of Muster and its own folder, or use another folder.`,
  );
}

function provenMachine({ principal, bootId, identity }: Claimant): string | null {
  if (!identity) return null;
  const { tokenHash } = principal;
  const machine = tokenHash === undefined ? undefined : verifyProof(identity, tokenHash, bootId);
  if (machine !== undefined) return machine;
  throw new Refusal(
    "conflict",
    "identity_not_proved",
    "This runner's proof of identity does not match its token. Start it again; if it is refused again, move identity.key out of its folder.",
  );
}

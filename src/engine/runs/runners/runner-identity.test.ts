/** Machines are identified by the key in their folder, not by token, name or path. */
import { createHash } from "node:crypto";
import { mkdtempSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createMemoryBus } from "#base/bus/memory/memory-bus.ts";
import { FakeClock } from "#base/clock.ts";
import { createIds } from "#base/ids.ts";
import { silentLog as log } from "#base/log.ts";
import {
  ensureMachineIdentity,
  type IdentityProof,
  type MachineIdentity,
} from "#base/machine/machine-identity.ts";
import { openStore } from "#base/store/index.ts";
import { createKernel } from "#engine/kernel.ts";
import { RUNNER_PROTOCOL, type RunnerProfile, type ServerFrame } from "#protocol/frames.ts";

const folder = () => mkdtempSync(join(tmpdir(), "muster-identity-"));
const hash = (token: string) => createHash("sha256").update(token).digest("hex");

interface TestRegistration {
  token: string;
  scope?: string;
  bootId?: string;
  profile?: Partial<RunnerProfile>;
  machine?: MachineIdentity;
  identity?: IdentityProof;
}

async function start() {
  const clock = new FakeClock();
  const store = await openStore({ url: "sqlite::memory:", clock, log, onSyncFailure: () => {} });
  const kernel = await createKernel({
    store,
    bus: createMemoryBus(log),
    clock,
    ids: createIds(),
    log,
    features: [],
    defaults: { runtime: "scripted", model: null, limits: { activePerUser: 9, activePerOrg: 9 } },
  });
  /** Returns the runner's id, or the code of the refusal. */
  async function register(registration: TestRegistration): Promise<string> {
    const { token, scope = "org", bootId = `boot ${token}`, profile, machine } = registration;
    const identity = registration.identity ?? machine?.prove(token, bootId);
    const answers: ServerFrame[] = [];
    const connection = kernel.dispatcher.connect(
      {
        kind: "runner",
        orgId: "org_1",
        credentialId: `crd_${token}`,
        tokenHash: hash(token),
        scope,
        tags: [],
        name: "r",
      },
      { send: (frame) => answers.push(frame), close: () => {}, isAlive: async () => false },
    );
    await connection.receive({
      op: "register",
      id: "1",
      protocol: RUNNER_PROTOCOL,
      bootId,
      profile: {
        name: "r",
        hostname: "h",
        folder: "/f",
        profile: "default",
        projectDir: null,
        tags: [],
        runtimes: ["scripted"],
        capacity: 1,
        models: [],
        sandbox: null,
        version: "0",
        ...profile,
      },
      ...(identity ? { identity } : {}),
      holding: [],
    });
    await kernel.dispatcher.disconnect(connection);
    const [answer] = answers;
    if (answer?.op === "registered") return answer.runnerId;
    return answer?.op === "refused" ? answer.code : "no answer";
  }
  const row = (id: string) =>
    store.read((reader) =>
      reader.query<{ owner_id: string | null; scope: string; hostname: string }>({
        sql: "select owner_id, scope, hostname from runners where id = ?",
        parameters: [id],
      }),
    );
  return { register, row };
}

describe("the identity of a machine", () => {
  it("stays with a new token, another host name and a moved folder", async () => {
    const { register, row } = await start();
    const machine = ensureMachineIdentity(folder());
    const id = await register({ token: "first", machine });
    const profile = { hostname: "renamed", folder: "/moved" };
    expect(await register({ token: "second", machine, profile })).toBe(id);
    expect(await row(id)).toMatchObject([{ hostname: "renamed", owner_id: null }]);
  });

  it("belongs to whoever's token it comes with now", async () => {
    const { register, row } = await start();
    const machine = ensureMachineIdentity(folder());
    const id = await register({ token: "org", machine });
    expect(await register({ token: "mine", scope: "user:usr_2", machine })).toBe(id);
    expect(await row(id)).toMatchObject([{ owner_id: "usr_2", scope: "user:usr_2" }]);
  });

  it("is not had by a token, a host name and a path alone", async () => {
    const { register } = await start();
    const id = await register({ token: "t", machine: ensureMachineIdentity(folder()) });
    expect(await register({ token: "t" })).not.toBe(id);
    const other = await register({ token: "t", machine: ensureMachineIdentity(folder()) });
    expect(other).toMatch(/^rnr_/);
    expect(other).not.toBe(id);
  });

  it("is not had by a proof that was made for another token or another boot", async () => {
    const { register } = await start();
    const machine = ensureMachineIdentity(folder());
    await register({ token: "first", machine });
    const recorded = machine.prove("first", "boot first");
    expect(await register({ token: "second", identity: recorded })).toBe("identity_not_proved");
    expect(await register({ token: "first", bootId: "new", identity: recorded })).toBe(
      "identity_not_proved",
    );
    const { publicKey } = recorded;
    const { signature } = ensureMachineIdentity(folder()).prove("second", "boot second");
    const forged = { publicKey, signature };
    expect(await register({ token: "second", identity: forged })).toBe("identity_not_proved");
    const rubbish = { publicKey: "AAAA", signature: "" };
    expect(await register({ token: "second", identity: rubbish })).toBe("identity_not_proved");
  });

  it("is taken on by a runner that was known before there were keys, once", async () => {
    const { register } = await start();
    const id = await register({ token: "t" });
    const machine = ensureMachineIdentity(folder());
    expect(await register({ token: "t", machine })).toBe(id);
    expect(await register({ token: "new", machine })).toBe(id);
    expect(await register({ token: "t", machine: ensureMachineIdentity(folder()) })).not.toBe(id);
    expect(await register({ token: "t" })).toBe("identity_required");
  });
});

describe("the identity file", () => {
  it("is private and read again", () => {
    const place = folder();
    const { fingerprint } = ensureMachineIdentity(place);
    expect(statSync(join(place, "identity.key")).mode & 0o777).toBe(0o600);
    expect(ensureMachineIdentity(place).fingerprint).toBe(fingerprint);
  });

  it("is never replaced when it cannot be read", () => {
    const place = folder();
    writeFileSync(join(place, "identity.key"), "rubbish", { mode: 0o600 });
    expect(() => ensureMachineIdentity(place)).toThrow("holds no key");
  });
});

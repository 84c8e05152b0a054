import { scryptSync } from "node:crypto";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createChangeReporter } from "#engine/index.ts";
import { createAudit } from "#features/audit/index.ts";
import { startWorld, type World } from "#features/testing/index.ts";
import { confirmPerson } from "./account.ts";
import type { UserPrincipal } from "./credentials/user-principal.ts";
import { ensureOwner } from "./owner.ts";
import { findOwner, savePassword } from "./queries.ts";
import { authMigrations } from "./schema.ts";
import { createLockout } from "./sign-in/lockout.ts";

const PASSWORD = "correct horse battery";
const ADDRESS = "203.0.113.9";

let world: World;
beforeAll(async () => {
  world = await startWorld([{ name: "auth", migrations: authMigrations }, createAudit().feature]);
});
afterAll(() => world.stop());

/** Builds a hash in the real format, but cheap to compute. */
function cheapHash(password: string): string {
  const salt = Buffer.alloc(16, 1);
  const key = scryptSync(password, salt, 32, { N: 2, r: 1, p: 1 });
  return ["scrypt", 2, 1, 1, salt.toString("base64url"), key.toString("base64url")].join("$");
}

it("lets people who are signed in confirm their password while strangers guess at their address", async () => {
  const { store, ids, clock } = world.kernel.engine;
  const lockout = createLockout(clock.now);
  const context = {
    store,
    ids,
    tell: createChangeReporter(() => world.kernel.engine),
    lockout,
    now: clock.now,
  };
  await ensureOwner(context, "owner");
  const owner = await store.transaction(async (tx) => {
    const user = await findOwner(tx);
    if (!user) throw new Error("no owner");
    const { id: user_id, org_id } = user;
    await savePassword(tx, { user_id, org_id, hash: cheapHash(PASSWORD), updated_at: tx.now });
    return user;
  });
  for (let n = 0; n < 50; n++) lockout.attempt({ account: `a${n}@example.org`, address: ADDRESS });
  expect(() => lockout.attempt({ account: "b@example.org", address: ADDRESS })).toThrow();
  const principal: UserPrincipal = {
    kind: "user",
    orgId: owner.org_id,
    userId: owner.id,
    name: owner.name,
    role: "admin",
    scopes: ["*"],
    channel: "web",
  };
  const maker = { credentialId: "crd_1", kind: "cookie" };
  const confirm = (password: string) =>
    confirmPerson(context, principal, maker, { address: ADDRESS }, password);
  expect(await confirm(PASSWORD)).toBe(cheapHash(PASSWORD));
  // Attempts are limited, so a stolen session cannot guess for ever.
  for (let n = 0; n < 10; n++)
    await expect(confirm("a wrong password")).rejects.toMatchObject({ code: "sign_in_failed" });
  await expect(confirm(PASSWORD)).rejects.toMatchObject({ code: "sign_in_locked" });
});

import { afterAll, beforeAll, expect, it } from "vitest";
import { createChangeReporter } from "#engine/index.ts";
import { createAudit } from "#features/audit/index.ts";
import { startWorld, type World } from "#features/testing/index.ts";
import { ensureOwner } from "../owner.ts";
import { authMigrations } from "../schema.ts";
import { createLockout } from "./lockout.ts";
import { signInByPassword } from "./sign-in.ts";

const NOBODY = { email: "nobody@example.org", password: "a wrong password" };

let world: World;
beforeAll(async () => {
  world = await startWorld([{ name: "auth", migrations: authMigrations }, createAudit().feature]);
});
afterAll(() => world.stop());

it("says when guessing was stopped, once, whether there is such a person or not", async () => {
  const { store, ids, clock } = world.kernel.engine;
  const lockout = createLockout(clock.now);
  const tell = createChangeReporter(() => world.kernel.engine);
  const context = { store, ids, tell, lockout, now: clock.now };
  await ensureOwner(context, "owner");
  // Earlier attempts, without hashing: that would only take time.
  for (let n = 0; n < 8; n++) lockout.attempt({ account: NOBODY.email, address: "1.1.1.1" });
  const guess = () => signInByPassword(context, NOBODY, { address: "1.1.1.1" });
  for (let n = 0; n < 2; n++)
    await expect(guess()).rejects.toMatchObject({ code: "sign_in_failed" });
  for (let n = 0; n < 2; n++)
    await expect(guess()).rejects.toMatchObject({ code: "sign_in_locked" });
  const sql = "select action, user_id from audit_events where action like 'sign_in_%' order by id";
  const rows = await store.read((reader) =>
    reader.query<{ action: string }>({ sql, parameters: [] } as never),
  );
  const actions = rows.map(({ action }) => action).sort();
  expect(actions).toEqual(["sign_in_failed", "sign_in_failed", "sign_in_locked"]);
});

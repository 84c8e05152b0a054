/** Backup and restore as documented: files, rights, keys and the audit trail, on both databases. */
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { ALL_MIGRATIONS } from "#main/cli.ts";
import { ENCRYPTED_COLUMNS } from "#main/features.ts";
import type { Prompt, Session } from "#protocol/sessions.ts";
import { copyToPostgres } from "#surfaces/cli/database/copy-to-postgres.ts";
import { inPostgresTransaction } from "#surfaces/cli/database/restore-postgres.ts";
import { createFakeHost, runCommand } from "#test/cli/fake-host.ts";
import { type ModelServer, startModelServer, TEST_MODEL } from "#test/model-server/model-server.ts";
import { type Platform, startPlatform } from "#test/platform.ts";
import "#test/services/bubblewrap.ts";
import {
  inviteToken,
  join as joinOrg,
  orgOf,
  PASSWORD,
  postAnonymously,
  signIn,
} from "#test/clients/people.ts";
import { createTestDatabase, postgresUrl, type TestDatabase } from "#test/services/postgres.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

let model: ModelServer;
beforeAll(async () => {
  model = await startModelServer();
});
afterAll(() => model.close());

let home: string;
let copy: string;
let platform: Platform | undefined;
let made: TestDatabase | undefined;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "muster-restore-"));
  copy = join(mkdtempSync(join(tmpdir(), "muster-copy-")), "copy.db");
});
afterEach(async () => {
  await platform?.stop();
  platform = undefined;
  await made?.drop();
  made = undefined;
  rmSync(home, { recursive: true, force: true });
});

async function start(env: Record<string, string> = {}): Promise<Platform> {
  platform = await startPlatform({
    home,
    env: {
      MUSTER_MODEL: `anthropic/${TEST_MODEL}`,
      ANTHROPIC_API_KEY: "test-key",
      ANTHROPIC_BASE_URL: model.url,
      ...env,
    },
  });
  return platform;
}
async function stop(): Promise<void> {
  await platform?.stop();
  platform = undefined;
}

interface Outcome {
  code: number;
  out: string;
  err: string;
}
async function muster(words: string[], env: Record<string, string> = {}): Promise<Outcome> {
  const host = createFakeHost({
    env: { MUSTER_HOME: home, PATH: process.env.PATH ?? "", ...env },
    migrations: ALL_MIGRATIONS,
    encryptedColumns: ENCRYPTED_COLUMNS,
  });
  const code = await runCommand(host, ...words);
  return { code: code ?? -1, out: host.out, err: host.err };
}
async function restore(words: string[] = [], env: Record<string, string> = {}): Promise<Outcome> {
  const outcome = await muster(["restore", copy, "--yes", ...words], env);
  expect([outcome.code, outcome.err]).toEqual([0, ""]);
  return outcome;
}

async function work(at: Platform, session: Session, command: string): Promise<Prompt> {
  const call = JSON.stringify({ command });
  const prompt = await at.prompt(session.id, `CALL bash ${call}\nSAY done`);
  const settled = await at.promptIn(prompt.id, "settled");
  expect(settled).toMatchObject({ outcome: "completed", error: null });
  return settled;
}
const outputs = async (at: Platform, { id }: Session) =>
  JSON.stringify((await at.events(id)).filter(({ type }) => type === "post_tool"));
const runnerIds = async ({ api }: Platform) => (await api.runners.list()).items.map(({ id }) => id);
const verified = ({ api }: Platform) =>
  expect
    .poll(() => api.audit.verify(), { timeout: 10_000 })
    .toMatchObject({ ok: true, unsealed: 0 });

describe("sessions with files", () => {
  async function makeSession(): Promise<{ session: Session; runners: string[] }> {
    const at = await start();
    const session = await at.createSession({ runtime: "native" });
    await work(at, session, "git init -q . && echo kept > uncommitted.txt");
    const runners = await runnerIds(at);
    expect((await muster(["backup", copy])).code).toBe(0);
    await work(at, session, "echo later >> uncommitted.txt");
    await stop();
    return { session, runners };
  }
  async function goesOn(session: Session, runners: string[]): Promise<void> {
    const at = platform as Platform;
    expect(await runnerIds(at)).toEqual(runners);
    await work(at, session, "cat uncommitted.txt");
    expect(await outputs(at, session)).toContain("kept\\nlater");
    expect(readdirSync(join(home, "runner", "removed"))).toEqual([]);
  }

  it("continue after a restore in the same data folder", async () => {
    const { session, runners } = await makeSession();
    const { out } = await restore();
    expect(out).toContain("1 sessions continue with their files in this data folder.");
    const at = await start();
    await goesOn(session, runners);
    await verified(at);
    expect(await at.api.audit.verify()).toMatchObject({ restores: [{}] });
  });

  it("continue in another data folder that has the runner's folder and the key", async () => {
    const { session, runners } = await makeSession();
    const old = home;
    home = mkdtempSync(join(tmpdir(), "muster-restore-"));
    cpSync(join(old, "runner"), join(home, "runner"), { recursive: true });
    cpSync(join(old, "secret.key"), join(home, "secret.key"));
    rmSync(old, { recursive: true });
    await restore(["--keep-access"]);
    await start();
    await goesOn(session, runners);
    await verified(platform as Platform);
  });

  it("wait, and name the missing machine, when their files are not there", async () => {
    const { session, runners } = await makeSession();
    rmSync(join(home, "runner"), { recursive: true });
    const { out } = await restore();
    expect(out).toContain(`npx muster runners rm ${runners[0]}`);
    const at = await start();
    const prompt = await at.prompt(session.id, "SAY hello");
    await expect
      .poll(() => at.api.prompts.get({ id: prompt.id }))
      .toMatchObject({ prompt: { waitingFor: { reason: "workspace_offline" } } });
    await at.api.runners.delete({ id: runners[0] ?? "" });
    expect(await at.promptIn(prompt.id, "settled")).toMatchObject({ outcome: "completed" });
  });

  it("are found by their folder in a copy from before machines had keys", async () => {
    const { session, runners } = await makeSession();
    const db = new Database(copy);
    db.exec("drop index runners_machine; alter table runners drop column machine");
    db.exec("delete from schema_migrations where id like '%-machines'");
    db.close();
    await restore();
    await start();
    await goesOn(session, runners);
  });
});

it("old sessions that came back are left alone for a day", async () => {
  const { id } = await (await start()).createSession({});
  await stop();
  const db = new Database(join(home, "muster.db"));
  db.exec(`update sessions set lifecycle = 'archived', archived_at = 1000 where id = '${id}'`);
  db.exec("insert into session_remains values ('ses_gone', 'org_1', null, 1)");
  db.close();
  expect((await muster(["backup", copy])).code).toBe(0);
  await restore();
  const at = await start();
  const { heldUntil } = await at.api.storage.get();
  expect(Date.parse(heldUntil ?? "")).toBeGreaterThan(Date.now());
  // Housekeeping is running: a half-removed session goes.
  const reader = new Database(join(home, "muster.db"), { readonly: true });
  const left = reader.prepare("select count(*) from session_remains").pluck();
  await expect.poll(() => left.get()).toBe(0);
  reader.close();
  await at.api.sessions.get({ id });
});

describe("credentials revoked after the copy was made", () => {
  interface Team {
    key: string;
    keptKey: string;
    invitation: string;
    annId: string;
  }
  async function makeTeam(): Promise<Team> {
    const at = await start();
    const ann = await joinOrg(at, "Ann", "admin");
    await joinOrg(at, "Ben");
    const newKey = async (name: string) =>
      (await at.api.me.createApiKey({ body: { name, scopes: ["sessions:read"] } })).key;
    const [key, keptKey] = [await newKey("revoked"), await newKey("kept")];
    const invitation = await inviteToken(at, { role: "member" });
    const { rule } = await at.api.policy.create({
      body: { level: "org", tool: "bash", pattern: "make *", effect: "allow" },
    });
    const { orgId } = await orgOf(at);
    await at.api.gateway.update({ orgId, body: { environmentKeys: true } });
    expect((await muster(["backup", copy])).code).toBe(0);
    const closed = { environmentKeys: false, personalRunners: false };
    await at.api.gateway.update({ orgId, body: closed });
    await revokeAll(at, ann.userId, rule.id);
    await stop();
    return { key, keptKey, invitation, annId: ann.userId };
  }
  async function revokeAll(at: Platform, annId: string, ruleId: string): Promise<void> {
    const { me, orgs, policy } = at.api;
    const { orgId } = await orgOf(at);
    const keys = (await me.listApiKeys()).items;
    const { id } = keys.find(({ name }) => name === "revoked") ?? { id: "" };
    const invitations = (await orgs.listInvitations({ orgId })).items;
    await me.revokeApiKey({ id });
    await orgs.removeMember({ orgId, userId: annId });
    await policy.delete({ id: ruleId });
    await orgs.withdrawInvitation({ orgId, id: invitations.at(-1)?.id ?? "" });
  }
  const opens = async (at: Platform, key: string) =>
    (await at.request("GET", "/api/sessions", undefined, { authorization: `Bearer ${key}` }))
      .status;
  async function isRevoked(at: Platform, { key, invitation, annId }: Team): Promise<void> {
    expect(await opens(at, key)).toBe(401);
    expect((await signIn(at, "ann@example.org")).status).toBe(401);
    const joining = { name: "Eve", email: "eve@example.org", password: PASSWORD };
    expect(
      (await postAnonymously(at, `/api/invitations/${invitation}/accept`, joining)).status,
    ).toBe(404);
    const rules = await at.api.policy.list();
    expect(rules.items.map(({ pattern }) => pattern)).not.toContain("make *");
    expect(annId).toMatch(/^usr_/);
    expect(await gatewayOf(at)).toMatchObject({ environmentKeys: false });
  }
  const gatewayOf = async (at: Platform) => {
    const { orgId } = await orgOf(at);
    return (await at.api.gateway.get({ orgId })).gateway;
  };

  it("stay revoked according to the replaced database; the rest stay valid", async () => {
    const team = await makeTeam();
    const { out } = await restore();
    expect(out).toContain("What was revoked since the backup stays revoked");
    const at = await start();
    await isRevoked(at, team);
    expect(await gatewayOf(at)).toMatchObject({ personalRunners: false });
    expect(await opens(at, team.keptKey)).toBe(200);
    expect((await signIn(at, "ben@example.org")).status).toBe(200);
    const { orgId } = await orgOf(at);
    const members = await at.api.orgs.listMembers({ orgId, query: { removed: "true" } });
    expect(members.items.find(({ userId }) => userId === team.annId)?.state).toBe("removed");
  });

  it("are revoked with all but the owner's when the replaced database is missing; the owner invites again", async () => {
    const team = await makeTeam();
    rmSync(join(home, "muster.db"));
    const { out } = await restore();
    expect(out).toContain("all access except the owner's was revoked");
    expect(out).toContain(`members invite --user ${team.annId} --admin`);
    const at = await start();
    await isRevoked(at, team);
    expect(await opens(at, team.keptKey)).toBe(401);
    expect((await signIn(at, "ben@example.org")).status).toBe(401);
    const { orgId, ownerId } = await orgOf(at);
    const members = await at.api.orgs.listMembers({ orgId });
    const ben = members.items.find(({ name }) => name === "Ben")?.userId;
    const token = await inviteToken(at, { userId: ben, role: "member" });
    const back = { name: "Ben", email: "ben@example.org", password: "another battery staple" };
    const joined = await postAnonymously(at, `/api/invitations/${token}/accept`, back);
    expect([joined.status, joined.body.user?.id]).toEqual([201, ben]);
    const path = `/api/orgs/${orgId}/invitations`;
    for (const userId of [ben, ownerId])
      expect((await at.request("POST", path, { userId, role: "member" })).status).toBe(404);
  });

  it("stay revoked when the replaced database's trail does not continue the copy's", async () => {
    const team = await makeTeam();
    const db = new Database(join(home, "muster.db"));
    db.exec("update audit_events set hash = 'other' where seq is not null");
    db.close();
    expect((await restore()).out).toContain("all access except the owner's was revoked");
    await isRevoked(await start(), team);
  });

  it("are valid again only if the caller says that nothing was revoked", async () => {
    const team = await makeTeam();
    rmSync(join(home, "muster.db"));
    await restore(["--keep-access"]);
    expect(await opens(await start(), team.key)).toBe(200);
  });
});

describe("the secret key of a copy", () => {
  it("is required at once; without it secrets are removed only on request", async () => {
    const at = await start();
    const { orgId } = await orgOf(at);
    await at.api.orgSecrets.set({ orgId, name: "DEPLOY", body: { value: "s3cret" } });
    await muster(["backup", copy]);
    await stop();
    const before = readFileSync(join(home, "muster.db"));
    rmSync(join(home, "secret.key"));
    const refused = await muster(["restore", copy, "--yes"]);
    expect(refused.err).toContain("secret_key_missing");
    expect(refused.err).toContain("--without-secrets");
    expect(readFileSync(join(home, "muster.db")).equals(before)).toBe(true);
    expect(existsSync(join(home, "secret.key"))).toBe(false);
    writeFileSync(join(home, "secret.key"), "x".repeat(43), { mode: 0o600 });
    expect((await muster(["restore", copy, "--yes"])).err).toContain("secret_key_wrong");
    rmSync(join(home, "secret.key"));
    expect((await restore(["--without-secrets"])).out).toContain("set them again");
    const again = await start();
    expect((await again.api.orgSecrets.list({ orgId })).items).toEqual([]);
    await verified(again);
  });
});

describe("a database that was copied back by hand", () => {
  it("is reported as truncated until it is adopted", async () => {
    const at = await start();
    await at.createSession({});
    await verified(at);
    await muster(["backup", copy]);
    await at.createSession({});
    await verified(at);
    await stop();
    cpSync(copy, join(home, "muster.db"));
    const cut = await start();
    await cut.createSession({});
    await expect.poll(() => cut.api.audit.verify()).toMatchObject({ ok: false });
    await stop();
  });

  it("is fenced off and recorded as a restore by --adopt", async () => {
    const at = await start();
    await at.createSession({});
    await verified(at);
    await muster(["backup", copy]);
    await at.createSession({});
    await verified(at);
    await stop();
    cpSync(copy, join(home, "muster.db"));
    expect(await muster(["restore", "--adopt", "--yes"])).toMatchObject({ code: 0, err: "" });
    await verified(await start());
  });
});

describe.runIf(postgresUrl)("a SQLite copy on PostgreSQL", () => {
  /** Adds one row to every table that the story has left empty. */
  function fillEmpty(path: string): void {
    const db = new Database(path);
    const tables = (db.pragma("table_list") as { name: string; type: string }[])
      .filter(({ name, type }) => type === "table" && !name.startsWith("sqlite_"))
      .map(({ name }) => name);
    for (const table of tables) {
      if (db.prepare(`select 1 from ${table} limit 1`).get()) continue;
      const columns = db.pragma(`table_info(${table})`) as { name: string; type: string }[];
      const values = columns.map(({ name, type }) => {
        if (/blob/i.test(type)) return Buffer.from([0, 1, 255]);
        return /int|double/i.test(type) ? 1 : `${name} of ${table} ${"\u{1F600}"}`;
      });
      db.prepare(
        `insert into ${table} (${columns.map(({ name }) => `"${name}"`).join(", ")}) values (${columns.map(() => "?").join(", ")})`,
      ).run(...values);
    }
    db.close();
  }
  /** PostgreSQL's driver returns large numbers as strings. */
  const textsOf = (rows: unknown[]) =>
    rows
      .map((row) =>
        (row as unknown[])
          .map((value) => (value instanceof Buffer ? value.toString("hex") : String(value)))
          .join("|"),
      )
      .sort();
  async function fill(): Promise<Session> {
    const at = await start();
    await joinOrg(at, "Ann");
    const { orgId } = await orgOf(at);
    await at.request("PUT", `/api/orgs/${orgId}/secrets/DEPLOY`, { value: "s3cret" });
    const session = await at.createSession({ runtime: "native", title: "zanzibar expedition" });
    await work(at, session, "echo kept > file.txt");
    await at.prompt(session.id, "SAY a prompt that waits", { mode: "followup" });
    await verified(at);
    await muster(["backup", copy]);
    await stop();
    return session;
  }

  it("has every row of every table, and a server continues from it", async () => {
    const session = await fill();
    made = await createTestDatabase();
    const env = { MUSTER_DATABASE_URL: made.url };
    const { out } = await restore(["--json"], env);
    const { rows } = JSON.parse(out) as { rows: Record<string, number> };
    expect(rows.users).toBe(2);
    expect(rows.audit_events).toBeGreaterThan(5);
    const at = await start(env);
    await work(at, session, "cat file.txt");
    expect(await outputs(at, session)).toContain("kept");
    await verified(at);
    expect((await signIn(at, "ann@example.org")).status).toBe(200);
    type Found = { items: { id: string }[] };
    await expect
      .poll(
        async () => (await at.request<Found>("GET", "/api/search?q=zanzibar")).body.items.length,
        {
          timeout: 10_000,
        },
      )
      .toBeGreaterThan(0);
    const created = await at.createSession({ title: "mombasa" });
    await expect
      .poll(
        async () => (await at.request<Found>("GET", "/api/search?q=mombasa")).body.items.length,
        {
          timeout: 10_000,
        },
      )
      .toBeGreaterThan(0);
    expect(created.id).toMatch(/^ses_/);
  });

  it("is copied byte for byte with rows in every table", async () => {
    await fill();
    fillEmpty(copy);
    made = await createTestDatabase();
    const { out } = await restore(["--json", "--keep-access"], { MUSTER_DATABASE_URL: made.url });
    const { rows } = JSON.parse(out) as { rows: Record<string, number> };
    const empty = Object.entries(rows).filter(([, n]) => n === 0);
    // Sign-ins in progress are not copied.
    expect(empty.map(([table]) => table)).toEqual(["sign_in_flows"]);
    expect(Object.keys(rows).length).toBeGreaterThan(30);
    await made.drop();
    made = await createTestDatabase();
    const db = new Database(copy, { readonly: true });
    await inPostgresTransaction(made.url, async (client) => {
      await copyToPostgres(db, client, ALL_MIGRATIONS, Date.now());
      for (const table of Object.keys(rows)) {
        const names = (db.pragma(`table_info(${table})`) as { name: string }[]).map(
          ({ name }) => `"${name}"`,
        );
        const had = db
          .prepare(`select ${names.join(", ")} from ${table}`)
          .raw()
          .all();
        const { rows: has } = await client.query({
          text: `select ${names.join(", ")} from ${table}`,
          rowMode: "array",
        });
        expect([table, textsOf(has)]).toEqual([table, textsOf(had)]);
      }
    });
    db.close();
  });

  it("leaves nothing behind when it is refused or fails", async () => {
    await fill();
    made = await createTestDatabase();
    const env = { MUSTER_DATABASE_URL: made.url };
    const db = new Database(copy);
    db.exec("alter table orgs add column surprise text");
    db.close();
    expect((await muster(["restore", copy, "--yes"], env)).code).not.toBe(0);
    expect(existsSync(join(home, "restored.json"))).toBe(false);
    const at = await start(env);
    expect((await at.request<{ items: [] }>("GET", "/api/sessions")).body.items).toEqual([]);
    await stop();
    const refused = await muster(["restore", copy, "--yes"], env);
    expect(refused.err).toContain("database_not_empty");
  });

  it("is adopted in place after pg_restore", async () => {
    made = await createTestDatabase();
    const env = { MUSTER_DATABASE_URL: made.url };
    const at = await start(env);
    const { key } = (
      await at.request<{ key: string }>("POST", "/api/me/api-keys", {
        name: "k",
        scopes: ["sessions:read"],
      })
    ).body;
    const running = await muster(["restore", "--adopt", "--yes"], env);
    expect(running.err).toContain("server_running");
    await stop();
    const adopted = await muster(["restore", "--adopt", "--yes"], env);
    expect([adopted.code, adopted.err]).toEqual([0, ""]);
    const again = await start(env);
    const headers = { authorization: `Bearer ${key}` };
    expect((await again.request("GET", "/api/sessions", undefined, headers)).status).toBe(401);
    await verified(again);
  });
});

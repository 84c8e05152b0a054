/** Oversight by admins: the trail of settings, opening a session, purging. */
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { ApiRoutes, Client, QueryOf } from "#client/index.ts";
import type { AuditEvent } from "#features/audit/contract.ts";
import type { Member } from "#features/orgs/contract.ts";
import type { OverseenSession, Session } from "#protocol/sessions.ts";
import {
  ask,
  type Browser,
  cookieOf,
  inviteToken,
  join,
  openSocket,
  orgOf,
  PASSWORD,
  postAnonymously,
  signIn,
} from "#test/clients/people.ts";
import { type Platform, startPlatform } from "#test/platform.ts";
import { createTestDatabase, postgresUrl, type TestDatabase } from "#test/services/postgres.ts";

const PATIENT = { timeout: 15_000, interval: 25 };
/** Typed into every text field there is. */
const CANARY = "canary7f3a";

function story(name: string, database: () => Promise<TestDatabase | undefined>): void {
  describe(name, () => {
    let platform: Platform;
    let made: TestDatabase | undefined;
    let orgId: string;
    let ownerId: string;

    beforeAll(async () => {
      made = await database();
      platform = await startPlatform({ env: made ? { MUSTER_DATABASE_URL: made.url } : {} });
      ({ orgId, ownerId } = await orgOf(platform));
    });
    afterAll(async () => {
      await platform.stop();
      await made?.drop();
    });

    const store = () => platform.server.kernel.engine.store;
    const execute = (sql: string) =>
      store().transaction((tx) => tx.execute({ sql, parameters: [] }));
    const query = <T>(sql: string) =>
      store().read((reader) => reader.query<T>({ sql, parameters: [] } as never));
    const org = (path: string) => `/api/orgs/${orgId}${path}`;
    const admin = <T = { error?: { code: string } }>(
      method: string,
      path: string,
      body?: unknown,
    ) => platform.request<T>(method, path, body);
    const trail = async (filter: QueryOf<ApiRoutes["audit"]["list"]> = {}, api = platform.api) =>
      (await api.audit.list({ query: { ...filter, limit: 200 } })).items;
    const words = (rows: AuditEvent[]) =>
      rows.map(({ metadata }) => `${metadata.area} ${metadata.change}`);
    const talk = async (who: Browser, text = CANARY): Promise<Session> => {
      const { session } = await who.api.sessions.create({
        body: { runtime: "echo", title: text, instructions: text },
      });
      const { prompt } = await who.api.prompts.create({
        id: session.id,
        body: {
          content: text,
          attachments: [
            {
              name: `${text}.txt`,
              mediaType: "text/plain",
              data: Buffer.from(text).toString("base64"),
            },
          ],
        },
      });
      await settled(who, prompt.id);
      return session;
    };
    const settled = ({ api }: Browser, id: string) =>
      vi.waitFor(async () => {
        expect((await api.prompts.get({ id })).prompt.state).toBe("settled");
      }, PATIENT);

    describe("the trail", () => {
      async function changeOwnSettings(api: Client): Promise<void> {
        const { apiKey } = await api.me.createApiKey({ body: { name: CANARY, scopes: ["mail"] } });
        await api.me.revokeApiKey({ id: apiKey.id });
        await api.runnerTokens.create({ body: { name: CANARY, scope: "user" } });
        await api.me.update({ body: { name: `${CANARY}2` } });
        for (const value of ["1", "2"])
          await api.secrets.set({ name: CANARY, body: { value: `${CANARY}${value}` } });
        await api.secrets.delete({ name: CANARY });
      }

      async function changeOrgSettings(api: Client): Promise<void> {
        await api.orgSecrets.set({ orgId, name: CANARY, body: { value: CANARY } });
        const provider = { name: CANARY, body: { kind: "anthropic", apiKey: CANARY } } as const;
        await api.providers.set(provider);
        await api.providers.set(provider);
        await api.providers.delete({ name: CANARY });
        const { rule } = await api.policy.create({
          body: { level: "org", tool: "bash", pattern: CANARY, effect: "deny" },
        });
        await api.policy.delete({ id: rule.id });
        const { repo } = await api.repos.create({
          orgId,
          body: { url: `https://example.org/${CANARY}/x.git` },
        });
        await api.repos.update({ orgId, repoId: repo.id, body: { description: CANARY } });
        await api.repos.delete({ orgId, repoId: repo.id });
        const { persona } = await api.personas.create({
          orgId,
          body: { name: CANARY, visibility: "shared" },
        });
        const { id } = persona;
        await api.personas.update({ orgId, id, body: { description: CANARY } });
        await api.personas.setDefault({ orgId, id });
        await api.personas.unsetDefault({ orgId, id });
        await api.personas.delete({ orgId, id });
      }

      it("has every change of settings, and no word that anyone typed", async () => {
        const ann = await join(platform, `${CANARY}Ann`);
        const { invitation } = await platform.api.orgs.invite({
          orgId,
          body: { email: `${CANARY}@example.org` },
        });
        await platform.api.orgs.withdrawInvitation({ orgId, id: invitation.id });
        await platform.api.orgs.update({ orgId, body: { name: CANARY } });
        await changeOwnSettings(ann.api);
        await changeOrgSettings(platform.api);
        const { email } = ann;
        await signIn(platform, email, `${CANARY} wrong password`);
        const again = cookieOf(await signIn(platform, email));
        await ann.api.me.setPassword({
          body: { currentPassword: PASSWORD, newPassword: `${PASSWORD} ${CANARY}` },
        });
        expect(again).not.toBe("");
        const back = cookieOf(await signIn(platform, email, `${PASSWORD} ${CANARY}`));
        const headers = { cookie: back, origin: platform.url };
        await postAnonymously(platform, "/api/auth/sign-out", {}, headers);
        const last = cookieOf(await signIn(platform, email, `${PASSWORD} ${CANARY}`));
        await postAnonymously(
          platform,
          "/api/auth/sign-out-everywhere",
          {},
          { ...headers, cookie: last },
        );
        const { orgs } = platform.api;
        const member = { orgId, userId: ann.userId };
        await orgs.updateMember({ ...member, body: { role: "admin" } });
        await orgs.updateMember({ ...member, body: { role: "member" } });
        await orgs.removeMember(member);

        const people = await trail({ category: "people" });
        expect(words(people).filter((word) => word.startsWith("invitation"))).toEqual(
          expect.arrayContaining([
            "invitation made",
            "invitation withdrawn",
            "invitation accepted",
          ]),
        );
        const ofAnn = people.filter(({ metadata }) => metadata.subjectId === ann.userId);
        expect(words(ofAnn).toReversed()).toEqual([
          "member added",
          "member profile_changed",
          "member made_admin",
          "member made_member",
          "member removed",
        ]);
        expect(ofAnn[0]).toMatchObject({
          action: "person_changed",
          metadata: { by: ownerId, userId: ownerId, sessionId: null },
        });
        const access = await trail({ category: "access" });
        const mine = access.filter(({ metadata }) => metadata.by === ann.userId);
        expect(words(mine).toReversed()).toEqual([
          "sign_in opened",
          "api_key made",
          "api_key revoked",
          "runner_token made",
          "sign_in opened",
          "password set",
          "sign_in opened",
          "sign_in opened",
          "browser closed",
          "sign_in opened",
          "browser closed_everywhere",
        ]);
        const [failed] = access.filter(({ action }) => action === "sign_in_failed");
        expect(failed).toMatchObject({
          severity: "warning",
          metadata: { by: null, subjectId: ann.userId },
        });
        const settings = words(await trail({ category: "settings" }));
        expect(settings.toReversed().filter((word) => !word.startsWith("persona added"))).toEqual([
          "org renamed",
          "secret set",
          "secret rotated",
          "secret removed",
          "org_secret set",
          "provider added",
          "provider changed",
          "provider removed",
          "org_rule made",
          "org_rule removed",
          "repo added",
          "repo changed",
          "repo removed",
          "persona saved",
          "persona made_default",
          "persona no_default",
          "persona removed",
        ]);
        const rows = await query("select * from audit_events");
        expect(JSON.stringify(rows)).not.toContain(CANARY);
      });

      it("records guessing, also for an unknown person", async () => {
        await signIn(platform, "nobody@example.org", "a wrong password");
        const rows = await trail({ category: "access" });
        const failed = rows.filter(
          ({ action, metadata }) => action === "sign_in_failed" && metadata.subjectId === null,
        );
        expect(failed).toHaveLength(1);
      });

      it("can still be verified", async () => {
        await vi.waitFor(async () => {
          const verified = await platform.api.audit.verify();
          expect(verified).toMatchObject({ ok: true, unsealed: 0 });
          expect(verified.sealed).toBeGreaterThan(30);
        }, PATIENT);
      });

      it("shows members their own entries only", async () => {
        const cara = await join(platform, "Cara");
        const rows = await trail({}, cara.api);
        expect(words(rows).sort()).toEqual([
          "invitation accepted",
          "member added",
          "sign_in opened",
        ]);
      });
    });

    describe("another person's session", () => {
      let dana: Browser;
      let ed: Browser;
      let session: Session;
      const read = (what: string, who: Pick<Browser, "request"> = platform) =>
        who.request("GET", `/api/sessions/${session.id}${what}`);
      const open = (reason: string, who: Pick<Browser, "request"> = platform) =>
        who.request<{ session: OverseenSession; error?: { code: string } }>(
          "POST",
          org(`/sessions/${session.id}/open`),
          { reason },
        );
      beforeAll(async () => {
        dana = await join(platform, "Dana");
        ed = await join(platform, "Ed");
        session = await talk(dana, "dana's words");
      });

      it("is listed for admins without its content", async () => {
        const { orgs } = platform.api;
        const listed = await orgs.listSessions({ orgId, query: { user: dana.userId } });
        expect(listed.items).toMatchObject([
          { id: session.id, ownerId: dana.userId, kind: "task", activity: "done", openUntil: null },
        ]);
        expect(JSON.stringify(listed)).not.toContain("dana's words");
        expect((await ed.request("GET", org("/sessions"))).status).toBe(403);
        const first = await orgs.listSessions({ orgId, query: { limit: 1 } });
        expect(first.items).toHaveLength(1);
      });

      it("is readable only after it was opened, and only readable", async () => {
        expect((await read("/transcript")).status).toBe(404);
        expect((await open("an incident", ed)).status).toBe(403);
        expect((await open("no")).status).toBe(400);
        const opened = await open(`incident ${CANARY}`);
        expect(opened.status).toBe(200);
        const until = Date.parse(opened.body.session.openUntil ?? "");
        expect(until - Date.now()).toBeGreaterThan(59 * 60_000);
        expect(until - Date.now()).toBeLessThanOrEqual(60 * 60_000);
        for (const what of ["", "/transcript", "/changes", "/prompts"])
          expect((await read(what)).status).toBe(200);
        expect(JSON.stringify((await read("/transcript")).body)).toContain("dana's words");
        const path = `/api/sessions/${session.id}`;
        expect((await admin("POST", `${path}/prompts`, { content: "x" })).status).toBe(404);
        expect((await admin("PATCH", path, { title: "x" })).status).toBe(404);
        expect((await admin("POST", `${path}/terminate`, {})).status).toBe(404);
        const child = { runtime: "echo", parentSessionId: session.id };
        expect((await admin("POST", "/api/sessions", child)).status).toBe(404);
        expect((await read("/transcript", ed)).status).toBe(404);
      });

      it("is not readable with a key of a narrower scope", async () => {
        for (const scope of ["sessions:read", "admin"] as const) {
          const { key } = await platform.api.me.createApiKey({
            body: { name: "k", scopes: [scope] },
          });
          const path = `/api/sessions/${session.id}/transcript`;
          const answer = await platform.request("GET", path, undefined, {
            authorization: `Bearer ${key}`,
          });
          expect(answer.status).toBe(404);
        }
      });

      it("tells its owner, and not its agent, that it was opened", async () => {
        const { items } = await dana.api.sessions.transcript({ id: session.id });
        const told = items.filter(({ kind }) => kind === "notice");
        expect(told.map(({ text }) => text)).toEqual([
          expect.stringMatching(
            new RegExp(`an admin, can read this session .* incident ${CANARY}$`),
          ),
        ]);
        const rows = await query<{ thread: string | null }>(
          `select thread from events where session_id = '${session.id}' and reason = 'opened_by_admin'`,
        );
        expect(rows).toEqual([{ thread: null }]);
        const seen = await trail({ action: "session_opened" }, dana.api);
        expect(seen).toMatchObject([
          {
            category: "access",
            severity: "warning",
            metadata: { sessionId: session.id, userId: dana.userId, by: ownerId, reasonChars: 19 },
          },
        ]);
        expect(JSON.stringify(seen)).not.toContain(CANARY);
      });

      it("cannot be opened by its owner, and does not reveal sessions of other organisations", async () => {
        const own = await platform.createSession({ runtime: "echo" });
        const path = (id: string) => org(`/sessions/${id}/open`);
        const body = { reason: "to look" };
        expect(await admin("POST", path(own.id), body)).toMatchObject({
          status: 409,
          body: { error: { code: "session_is_yours" } },
        });
        expect((await admin("POST", path("ses_none"), body)).status).toBe(404);
        const elsewhere = `/api/orgs/org_none/sessions/${session.id}/open`;
        expect((await admin("POST", elsewhere, body)).status).toBe(404);
      });

      it("closes by itself, also for followers", async () => {
        const ends = Date.now() + 1_500;
        await execute(`update session_opens set expires_at = ${ends}`);
        const bearer = { authorization: `Bearer ${platform.key}` };
        const socket = await openSocket(platform, "/api/live", bearer);
        const topic = `session:${session.id}`;
        expect(await ask(socket, { op: "subscribe", topic })).toMatchObject({ op: "subscribed" });
        const frames: { op?: string; code?: string }[] = [];
        socket.on("message", (data) => frames.push(JSON.parse(String(data))));
        const stream = await fetch(`${platform.url}/api/sessions/${session.id}/events`, {
          headers: bearer,
        });
        const text = await stream.text();
        expect(text).toContain("dana's words");
        expect(Date.now()).toBeGreaterThanOrEqual(ends);
        await vi.waitFor(
          () => expect(frames.at(-1)).toMatchObject({ op: "error", topic, code: "not_found" }),
          PATIENT,
        );
        await talkAgain();
        expect(frames.at(-1)).toMatchObject({ op: "error" });
        socket.terminate();
        expect((await read("/transcript")).status).toBe(404);
      });

      it("closes for a person who is no longer an admin", async () => {
        await open("to look again");
        await execute(`update users set role = 'member' where id = '${ownerId}'`);
        platform.server.auth.forget();
        expect((await read("/transcript")).status).toBe(404);
        await execute(`update users set role = 'admin' where id = '${ownerId}'`);
        platform.server.auth.forget();
        expect((await read("/transcript")).status).toBe(200);
      });

      async function talkAgain(): Promise<void> {
        const { prompt } = await dana.api.prompts.create({
          id: session.id,
          body: { content: "more" },
        });
        await settled(dana, prompt.id);
      }
    });

    describe("purging", () => {
      const MARK = "purgeme9c1d";
      const listed = async (): Promise<Member[]> =>
        (await platform.api.orgs.listMembers({ orgId, query: { removed: "true" } })).items;
      const stateOf = async (userId: string) =>
        (await listed()).find((one) => one.userId === userId)?.state;
      const purge = (userId: string, confirm: string) =>
        admin<{ member: Member; error?: { code: string } }>(
          "POST",
          org(`/members/${userId}/purge`),
          { confirm },
        );

      /** Every table that has this text in a row. */
      async function tablesWith(text: string): Promise<string[]> {
        const names = await query<{ name: string }>(
          made
            ? "select tablename as name from pg_tables where schemaname = 'public'"
            : "select name from sqlite_master where type = 'table'",
        );
        const found: string[] = [];
        for (const { name: table } of names) {
          const rows = await query<Record<string, unknown>>(`select * from ${table}`);
          const plain = rows.map((row) =>
            Object.values(row).map((value) =>
              value instanceof Uint8Array ? Buffer.from(value).toString("utf8") : value,
            ),
          );
          if (JSON.stringify(plain).includes(text)) found.push(table);
        }
        return found;
      }

      it("leaves nothing of a removed person but records without content", async () => {
        const fay = await join(platform, `${MARK}Fay`);
        const { userId, email } = fay;
        const gil = await join(platform, "Gil");
        const kept = await talk(gil, "gil's words");
        await talk(fay, MARK);
        const { api } = fay;
        await api.secrets.set({ name: MARK, body: { value: MARK } });
        await api.me.createApiKey({ body: { name: MARK, scopes: ["mail"] } });
        await api.runnerTokens.create({ body: { name: MARK, scope: "user" } });
        await api.personas.create({
          orgId,
          body: { name: MARK, files: [{ filename: "A.md", content: MARK, sortOrder: 0 }] },
        });
        await api.policy.create({ body: { tool: "bash", pattern: MARK, effect: "allow" } });
        await execute(
          `insert into runners (id, org_id, owner_id, created_by, scope, credential_id, name, hostname, folder, profile, tags, runtimes, capacity, version, protocol, state, boot_id, last_seen_at, created_at)
           values ('rnr_fay', '${orgId}', '${userId}', 'x', 'user:${userId}', 'crd_none', '${MARK}', 'h', '/f', 'default', '[]', '[]', 1, '0', 1, 'offline', 'b', 1, 1)`,
        );
        await api.sessions.create({
          body: { runtime: "scripted", prompt: `say ${MARK}\nsleep 60000` },
        });

        expect(await purge(userId, email)).toMatchObject({
          status: 409,
          body: { error: { code: "still_member" } },
        });
        await platform.api.orgs.removeMember({ orgId, userId });
        expect(await stateOf(userId)).toBe("removed");
        expect((await tablesWith(MARK)).length).toBeGreaterThan(5);
        expect(await purge(userId, "Gil")).toMatchObject({
          status: 400,
          body: { error: { code: "confirmation_wrong" } },
        });
        expect(await stateOf(userId)).toBe("removed");
        expect((await purge("usr_none", "Gil")).status).toBe(404);
        const asked = await purge(userId, email.toUpperCase());
        expect(asked).toMatchObject({
          status: 202,
          body: { member: { name: "Removed person", email: null, state: "purging" } },
        });
        expect((await purge(userId, "anything")).status).toBe(202);
        await vi.waitFor(async () => expect(await stateOf(userId)).toBe("purged"), PATIENT);

        expect(await tablesWith(MARK)).toEqual([]);
        const left = await query<{ owner_id: string }>(
          `select owner_id from sessions where owner_id = '${userId}'`,
        );
        expect(left).toEqual([]);
        const orphans = await query(
          "select sha256 from blobs where sha256 not in (select sha256 from blob_refs)",
        );
        expect(orphans).toEqual([]);
        const theirs = (await trail({ category: "people" })).filter(
          ({ metadata }) => metadata.subjectId === userId,
        );
        expect(words(theirs)).toEqual(
          expect.arrayContaining(["member removed", "member purge_asked", "member purged"]),
        );
        const transcript = await gil.api.sessions.transcript({ id: kept.id });
        expect(JSON.stringify(transcript)).toContain("gil's words");
        expect((await listed()).find((one) => one.userId === gil.userId)?.state).toBe("here");
      });

      it("lets the same person come back as someone new", async () => {
        const hal = await join(platform, "Hal");
        const removed = { orgId, userId: hal.userId };
        await platform.api.orgs.removeMember(removed);
        await platform.api.orgs.purgeMember({ ...removed, body: { confirm: "Hal" } });
        const token = await inviteToken(platform, { email: hal.email });
        const back = await postAnonymously(platform, `/api/invitations/${token}/accept`, {
          name: "Hal",
          email: hal.email,
          password: PASSWORD,
        });
        expect(back.status).toBe(201);
        expect(back.body.user?.id).not.toBe(hal.userId);
        await vi.waitFor(async () => expect(await stateOf(hal.userId)).toBe("purged"), PATIENT);
        const cookie = cookieOf(await signIn(platform, hal.email));
        expect(cookie).not.toBe("");
      });

      it("shows people who left to admins only", async () => {
        const ida = await join(platform, "Ida");
        expect((await ida.request("GET", org("/members?removed=true"))).status).toBe(403);
        const plain = await ida.api.orgs.listMembers({ orgId });
        expect(plain.items.every(({ state }) => state === "here")).toBe(true);
        expect(
          (await ida.request("POST", org(`/members/${ida.userId}/purge`), { confirm: "Ida" }))
            .status,
        ).toBe(403);
      });

      it("leaves the audit trail as it was written", async () => {
        expect((await platform.api.audit.verify()).ok).toBe(true);
      });
    });
  });
}

story("oversight on sqlite", async () => undefined);
describe.skipIf(!postgresUrl)("with a PostgreSQL server", () => {
  story("oversight on postgres", createTestDatabase);
});

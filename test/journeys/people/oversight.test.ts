/** Oversight by admins: the trail of settings, opening a session, purging. */
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { AuditEvent } from "#features/audit/contract.ts";
import type { Member } from "#features/orgs/contract.ts";
import type { Entry, OverseenSession, Prompt, Session } from "#protocol/sessions.ts";
import {
  ask,
  type Browser,
  cookieOf,
  inviteToken,
  join,
  knock,
  openSocket,
  orgOf,
  PASSWORD,
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
    const trail = async (filter = "", who: Pick<Browser, "request"> = platform) =>
      (await who.request<{ items: AuditEvent[] }>("GET", `/api/audit?limit=200${filter}`)).body
        .items;
    const words = (rows: AuditEvent[]) =>
      rows.map(({ metadata }) => `${metadata.area} ${metadata.change}`);
    const talk = async (who: Browser, text = CANARY): Promise<Session> => {
      const { body } = await who.request<{ session: Session }>("POST", "/api/sessions", {
        runtime: "echo",
        title: text,
        instructions: text,
      });
      const { id } = body.session;
      const said = await who.request<{ prompt: Prompt }>("POST", `/api/sessions/${id}/prompts`, {
        content: text,
        attachments: [
          {
            name: `${text}.txt`,
            mediaType: "text/plain",
            data: Buffer.from(text).toString("base64"),
          },
        ],
      });
      await vi.waitFor(async () => {
        const path = `/api/prompts/${said.body.prompt.id}`;
        const { body: now } = await who.request<{ prompt: Prompt }>("GET", path);
        expect(now.prompt.state).toBe("settled");
      }, PATIENT);
      return body.session;
    };

    describe("the trail", () => {
      it("has every change of settings, and no word that anyone typed", async () => {
        const ann = await join(platform, `${CANARY}Ann`);
        const fresh = await admin<{ invitation: { id: string } }>("POST", org("/invitations"), {
          email: `${CANARY}@example.org`,
        });
        await admin("DELETE", org(`/invitations/${fresh.body.invitation.id}`));
        await admin("PATCH", org(""), { name: CANARY });
        const key = await ann.request<{ apiKey: { id: string } }>("POST", "/api/me/api-keys", {
          name: CANARY,
          scopes: ["mail"],
        });
        await ann.request("DELETE", `/api/me/api-keys/${key.body.apiKey.id}`);
        await ann.request("POST", "/api/runners/tokens", { name: CANARY, scope: "user" });
        await ann.request("PATCH", "/api/me", { name: `${CANARY}2` });
        for (const value of ["1", "2"])
          await ann.request("PUT", `/api/me/secrets/${CANARY}`, { value: `${CANARY}${value}` });
        await ann.request("DELETE", `/api/me/secrets/${CANARY}`);
        await admin("PUT", org(`/secrets/${CANARY}`), { value: CANARY });
        await admin("PUT", `/api/providers/${CANARY}`, { kind: "anthropic", apiKey: CANARY });
        await admin("PUT", `/api/providers/${CANARY}`, { kind: "anthropic", apiKey: CANARY });
        await admin("DELETE", `/api/providers/${CANARY}`);
        const rule = await admin<{ rule: { id: string } }>("POST", "/api/policy/rules", {
          level: "org",
          tool: "bash",
          pattern: CANARY,
          effect: "deny",
        });
        await admin("DELETE", `/api/policy/rules/${rule.body.rule.id}`);
        const repo = await admin<{ repo: { id: string } }>("POST", org("/repos"), {
          url: `https://example.org/${CANARY}/x.git`,
        });
        const repoPath = org(`/repos/${repo.body.repo.id}`);
        await admin("PATCH", repoPath, { description: CANARY });
        await admin("DELETE", repoPath);
        const persona = await admin<{ persona: { id: string } }>("POST", org("/personas"), {
          name: CANARY,
          visibility: "shared",
        });
        const personaPath = org(`/personas/${persona.body.persona.id}`);
        await admin("PATCH", personaPath, { description: CANARY });
        await admin("PUT", `${personaPath}/default`, {});
        await admin("DELETE", `${personaPath}/default`);
        await admin("DELETE", personaPath);
        const { email } = ann;
        await signIn(platform, email, `${CANARY} wrong password`);
        const again = cookieOf(await signIn(platform, email));
        await ann.request("PUT", "/api/me/password", {
          currentPassword: PASSWORD,
          newPassword: `${PASSWORD} ${CANARY}`,
        });
        expect(again).not.toBe("");
        const back = cookieOf(await signIn(platform, email, `${PASSWORD} ${CANARY}`));
        const headers = { cookie: back, origin: platform.url };
        await knock(platform, "/api/auth/sign-out", {}, headers);
        const last = cookieOf(await signIn(platform, email, `${PASSWORD} ${CANARY}`));
        await knock(platform, "/api/auth/sign-out-everywhere", {}, { ...headers, cookie: last });
        const member = org(`/members/${ann.userId}`);
        await admin("PATCH", member, { role: "admin" });
        await admin("PATCH", member, { role: "member" });
        await admin("DELETE", member);

        const people = await trail("&category=people");
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
        const access = await trail("&category=access");
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
        const settings = words(await trail("&category=settings"));
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
        const rows = await trail("&category=access");
        const failed = rows.filter(
          ({ action, metadata }) => action === "sign_in_failed" && metadata.subjectId === null,
        );
        expect(failed).toHaveLength(1);
      });

      it("can still be verified", async () => {
        await vi.waitFor(async () => {
          const { body } = await admin<{ ok: boolean; sealed: number; unsealed: number }>(
            "GET",
            "/api/audit/verify",
          );
          expect(body).toMatchObject({ ok: true, unsealed: 0 });
          expect(body.sealed).toBeGreaterThan(30);
        }, PATIENT);
      });

      it("shows members their own entries only", async () => {
        const cara = await join(platform, "Cara");
        const rows = await trail("", cara);
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
        who.request<{ items: Entry[] }>("GET", `/api/sessions/${session.id}${what}`);
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
        const { body } = await admin<{ items: OverseenSession[] }>(
          "GET",
          org(`/sessions?user=${dana.userId}`),
        );
        expect(body.items).toMatchObject([
          { id: session.id, ownerId: dana.userId, kind: "task", activity: "done", openUntil: null },
        ]);
        expect(JSON.stringify(body)).not.toContain("dana's words");
        expect((await ed.request("GET", org("/sessions"))).status).toBe(403);
        const first = await admin<{ items: object[]; next: string | null }>(
          "GET",
          org("/sessions?limit=1"),
        );
        expect(first.body.items).toHaveLength(1);
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
        for (const scopes of [["sessions:read"], ["admin"]]) {
          const { body } = await admin<{ key: string }>("POST", "/api/me/api-keys", {
            name: "k",
            scopes,
          });
          const path = `/api/sessions/${session.id}/transcript`;
          const answer = await platform.request("GET", path, undefined, {
            authorization: `Bearer ${body.key}`,
          });
          expect(answer.status).toBe(404);
        }
      });

      it("tells its owner, and not its agent, that it was opened", async () => {
        const { body } = await read("/transcript", dana);
        const told = body.items.filter(({ kind }) => kind === "notice");
        expect(told.map(({ text }) => text)).toEqual([
          expect.stringMatching(
            new RegExp(`an admin, can read this session .* incident ${CANARY}$`),
          ),
        ]);
        const rows = await query<{ thread: string | null }>(
          `select thread from events where session_id = '${session.id}' and reason = 'opened_by_admin'`,
        );
        expect(rows).toEqual([{ thread: null }]);
        const seen = await trail("&action=session_opened", dana);
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
        const path = `/api/sessions/${session.id}/prompts`;
        const { body } = await dana.request<{ prompt: Prompt }>("POST", path, { content: "more" });
        await vi.waitFor(async () => {
          const now = await dana.request<{ prompt: Prompt }>(
            "GET",
            `/api/prompts/${body.prompt.id}`,
          );
          expect(now.body.prompt.state).toBe("settled");
        }, PATIENT);
      }
    });

    describe("purging", () => {
      const MARK = "purgeme9c1d";
      const listed = async (): Promise<Member[]> =>
        (await admin<{ items: Member[] }>("GET", org("/members?removed=true"))).body.items;
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
        await fay.request("PUT", `/api/me/secrets/${MARK}`, { value: MARK });
        await fay.request("POST", "/api/me/api-keys", { name: MARK, scopes: ["mail"] });
        await fay.request("POST", "/api/runners/tokens", { name: MARK, scope: "user" });
        await fay.request("POST", org("/personas"), {
          name: MARK,
          files: [{ filename: "A.md", content: MARK, sortOrder: 0 }],
        });
        await fay.request("POST", "/api/policy/rules", {
          tool: "bash",
          pattern: MARK,
          effect: "allow",
        });
        await execute(
          `insert into runners (id, org_id, owner_id, created_by, scope, credential_id, name, hostname, folder, profile, tags, runtimes, capacity, version, protocol, state, boot_id, last_seen_at, created_at)
           values ('rnr_fay', '${orgId}', '${userId}', 'x', 'user:${userId}', 'crd_none', '${MARK}', 'h', '/f', 'default', '[]', '[]', 1, '0', 1, 'offline', 'b', 1, 1)`,
        );
        const busy = await fay.request<{ session: Session }>("POST", "/api/sessions", {
          runtime: "scripted",
          prompt: `say ${MARK}\nsleep 60000`,
        });
        expect(busy.status).toBe(201);

        expect(await purge(userId, email)).toMatchObject({
          status: 409,
          body: { error: { code: "still_member" } },
        });
        await admin("DELETE", org(`/members/${userId}`));
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
        const theirs = (await trail("&category=people")).filter(
          ({ metadata }) => metadata.subjectId === userId,
        );
        expect(words(theirs)).toEqual(
          expect.arrayContaining(["member removed", "member purge_asked", "member purged"]),
        );
        const transcript = await gil.request("GET", `/api/sessions/${kept.id}/transcript`);
        expect(JSON.stringify(transcript.body)).toContain("gil's words");
        expect((await listed()).find((one) => one.userId === gil.userId)?.state).toBe("here");
      });

      it("lets the same person come back as someone new", async () => {
        const hal = await join(platform, "Hal");
        await admin("DELETE", org(`/members/${hal.userId}`));
        await purge(hal.userId, "Hal");
        const token = await inviteToken(platform, { email: hal.email });
        const back = await knock(platform, `/api/invitations/${token}/accept`, {
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
        const plain = await ida.request<{ items: Member[] }>("GET", org("/members"));
        expect(plain.body.items.every(({ state }) => state === "here")).toBe(true);
        expect(
          (await ida.request("POST", org(`/members/${ida.userId}/purge`), { confirm: "Ida" }))
            .status,
        ).toBe(403);
      });

      it("leaves the audit trail as it was written", async () => {
        const { body } = await admin<{ ok: boolean }>("GET", "/api/audit/verify");
        expect(body.ok).toBe(true);
      });
    });
  });
}

story("oversight on sqlite", async () => undefined);
describe.skipIf(!postgresUrl)("with a PostgreSQL server", () => {
  story("oversight on postgres", createTestDatabase);
});

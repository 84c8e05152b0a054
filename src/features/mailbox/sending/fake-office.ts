/** Test fixture: people with orchestrators on the real kernel; the test controls every turn. */
import type { Feature, PromptRow } from "#engine/index.ts";
import { findPrompt } from "#engine/sessions/index.ts";
import { authMigrations, insertUser } from "#features/auth/index.ts";
import { createDelegation, type DelegationLimits } from "#features/delegation/index.ts";
import { FakeSessionTree } from "#features/fake-session-tree/index.ts";
import { createOrchestrators } from "#features/orchestrators/index.ts";
import { tasks } from "#features/tasks/index.ts";
import { owner, startWorld, type Turn, type User, type World } from "#features/testing/index.ts";
import type { MailMessage } from "../contract.ts";
import { createMailbox } from "../index.ts";
import { findMessage } from "../queries.ts";
import type { MessageRow } from "../schema.ts";

export interface OfficeOptions {
  url?: string | undefined;
  limits?: Partial<DelegationLimits>;
  more?: readonly Feature[];
  /** True if another kernel has already filled the database. */
  isOld?: boolean;
}

export class FakeOffice {
  readonly world: World;
  readonly at: FakeSessionTree;
  #people: number;

  constructor(world: World, people: number) {
    this.world = world;
    this.at = new FakeSessionTree(world);
    this.#people = people;
  }

  static async open({ url, limits, more = [], isOld = false }: OfficeOptions): Promise<FakeOffice> {
    const auth = { name: "auth", migrations: authMigrations };
    const delegation = createDelegation(limits);
    const rest = [createOrchestrators(), tasks, createMailbox(), ...more];
    const world = await startWorld([auth, delegation, ...rest], url);
    const office = new FakeOffice(world, isOld ? 1_000 : 0);
    if (isOld) return office;
    await office.execute(
      "insert into orgs (id, name, slug, created_at) values ('org_1', 'Crew', 'crew', 1), ('org_2', 'Other', 'other', 1)",
    );
    return office;
  }

  execute(sql: string): Promise<number> {
    const { store } = this.world.kernel.engine;
    return store.transaction((tx) => tx.execute({ sql, parameters: [] }));
  }

  /** Creates a person with an orchestrator. */
  async person(name: string, email: string | null = null): Promise<User> {
    const who = await this.stranger(name, owner.orgId, email);
    await this.world.call(who, "POST", "/api/me/orchestrator", {});
    return who;
  }

  /** Creates a person without an orchestrator. */
  async stranger(name: string, orgId: string, email: string | null = null): Promise<User> {
    this.#people += 1;
    const who: User = { ...owner, orgId, userId: `usr_m${this.#people}`, name, role: "member" };
    await this.world.kernel.engine.store.transaction((tx) =>
      insertUser(tx, {
        ...{ id: who.userId, org_id: orgId, name, role: "member", email },
        ...{ timezone: "UTC", locale: "en", created_at: 1 },
      }),
    );
    return who;
  }

  accept(who: User, acceptsAgentMail: "none" | "org" | "list"): Promise<unknown> {
    return this.world.call(who, "PUT", "/api/me/orchestrator/identity", { acceptsAgentMail });
  }

  async handle(who: User): Promise<string> {
    const answer = await this.world.call<{ identity: { handle: string } }>(
      who,
      "GET",
      "/api/me/orchestrator/identity",
    );
    return answer.identity.handle;
  }

  /** Prompts a session as a person, and returns its turn. */
  async turn(who: User, sessionId: string, content = "go", thread = "main"): Promise<Turn> {
    await this.say(who, sessionId, content, thread);
    return this.at.turnOf(sessionId);
  }

  say(who: User, sessionId: string, content = "go", thread = "main") {
    const request = { content, mode: "followup" as const, thread, attachments: [] };
    return this.world.kernel.prompts.admit(who, sessionId, request);
  }

  async send(who: User, body: object): Promise<MailMessage> {
    return (await this.world.call<{ message: MailMessage }>(who, "POST", "/api/messages", body))
      .message;
  }

  async reply(who: User, replyToId: string, content: string): Promise<MailMessage> {
    return this.send(who, { replyToId, content });
  }

  async message(id: string): Promise<MessageRow> {
    const row = await this.world.kernel.engine.store.read((reader) => findMessage(reader, id));
    if (!row) throw new Error(`no message ${id}`);
    return row;
  }

  async prompt(id: string): Promise<PromptRow> {
    const row = await this.world.kernel.engine.store.read((reader) => findPrompt(reader, id));
    if (!row) throw new Error(`no prompt ${id}`);
    return row;
  }

  sessionMessages(who: User, sessionId: string, all = true): Promise<{ items: MailMessage[] }> {
    return this.world.call(who, "GET", `/api/sessions/${sessionId}/messages?all=${all}`);
  }

  async inbox(who: User): Promise<MailMessage[]> {
    const { items } = await this.world.call<{ items: MailMessage[] }>(who, "GET", "/api/me/inbox");
    return items;
  }

  async sleep(who: User, sessionId: string): Promise<void> {
    await this.world.kernel.sessions.hibernate(who, sessionId);
  }

  async lifecycle(id: string): Promise<string | undefined> {
    return (await this.at.row(id))?.lifecycle;
  }
}

export const idOf = ({ userId }: User) => `orchestrator:${userId}`;

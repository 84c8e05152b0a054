import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { SessionRow } from "#engine/index.ts";
import { insertUser } from "#features/auth/index.ts";
import { createSecrets } from "#features/secrets/index.ts";
import { member, owner, startWorld, type World } from "#features/testing/index.ts";
import { createRepos } from "./index.ts";
import { identityOf } from "./open-repository.ts";

const SECRET_KEY = "a-secret-key-of-more-than-32-characters";
const TOKEN = "canary-token-0123456789";

describe("what opens a repository", () => {
  const secrets = createSecrets({ secretKey: SECRET_KEY });
  const findPersona = async () => undefined;
  const repos = createRepos({ secretKey: SECRET_KEY, secrets, findPersona });
  let world: World;
  beforeAll(async () => {
    world = await startWorld([secrets.feature, repos.feature]);
    await addUser("usr_1", "admin");
    await addUser("usr_2", "member");
    await store("TOKEN", TOKEN);
    await store("PAIR", `deploy:${TOKEN}`);
  });
  afterAll(() => world.stop());

  const addUser = (id: string, role: "admin" | "member") =>
    world.kernel.engine.store.transaction((tx) =>
      insertUser(tx, {
        id,
        org_id: "org_1",
        name: id,
        email: null,
        role,
        timezone: "UTC",
        locale: "en",
        created_at: 1,
      }),
    );
  const store = (name: string, value: string, place = "/api/orgs/org_1") =>
    world.call(owner, "PUT", `${place}/secrets/${name}`, { value });
  const add = (repo: object) => world.call(owner, "POST", "/api/orgs/org_1/repos", repo);
  const open = (repo: string, scope = "org", orgId = "org_1", opener = repos) => {
    const session = { org_id: orgId, repo } as SessionRow;
    return opener.feature.openRepository?.(world.kernel.engine, session, { scope });
  };

  it("is a token of the organisation, and the API of the same GitHub", async () => {
    await add({ fullName: "acme/app", credential: "TOKEN", defaultBranch: "trunk" });
    expect(await open("https://github.com/acme/app")).toEqual({
      fullName: "acme/app",
      provider: "github",
      url: "https://github.com/acme/app.git",
      defaultBranch: "trunk",
      credential: { secret: "TOKEN", username: "x-access-token", password: TOKEN },
      apiUrl: "https://api.github.com",
    });
    const githubApiUrl = "https://ghe.example.com/api/v3";
    const elsewhere = createRepos({ secretKey: SECRET_KEY, secrets, findPersona, githubApiUrl });
    expect(await open("acme/app", "org", "org_1", elsewhere)).toMatchObject({ apiUrl: null });
  });

  it("is a user with a password for plain git, which has no API", async () => {
    const url = "https://git.example.com/acme/tools.git";
    await add({ url, provider: "git", credential: "PAIR" });
    expect(await open(url)).toMatchObject({
      credential: { username: "deploy", password: TOKEN },
      apiUrl: null,
    });
  });

  it("is nothing for a repository that is unknown, of another organisation, or open to all", async () => {
    await add({ fullName: "acme/public" });
    expect(await open("https://github.com/acme/public")).toMatchObject({ credential: null });
    expect(await open("https://github.com/acme/unknown")).toBeUndefined();
    expect(await open("https://github.com/acme/app", "org", "org_2")).toBeUndefined();
  });

  it("is refused for one that is switched off", async () => {
    await add({ fullName: "acme/off", credential: "TOKEN", enabled: false });
    await expect(open("acme/off")).rejects.toMatchObject({ code: "repo_disabled" });
  });

  it("is not given to somebody's own machine, unless an admin's", async () => {
    expect(await open("acme/app", `user:${owner.userId}`)).toBeDefined();
    for (const scope of [`user:${member.userId}`, "user:usr_gone"])
      await expect(open("acme/app", scope)).rejects.toMatchObject({ code: "runner_not_trusted" });
    expect(await open("acme/public", `user:${member.userId}`)).toBeDefined();
  });

  it.each([
    ["OWN", "a person's own", async () => store("OWN", TOKEN, "/api/me")],
    ["NONE", "one that is not there", async () => undefined],
    ["SHORT", "one that is too short", async () => store("SHORT", "abc")],
    ["LINES", "one of two lines", async () => store("LINES", `${TOKEN}\nx=y`)],
  ])("is never %s: %s", async (name, _what, prepare) => {
    await prepare();
    await add({ fullName: `acme/${name}`, credential: name });
    const failure = await open(`acme/${name}`)?.catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: "repo_credential_unusable" });
    expect(String(failure)).not.toContain(TOKEN);
  });

  it("is refused for good when the server's key has changed, so that nobody asks for ever", async () => {
    const key = "another-secret-key-of-more-than-32-chars";
    const changed = createRepos({
      secretKey: key,
      secrets: createSecrets({ secretKey: key }),
      findPersona,
    });
    await expect(open("acme/app", "org", "org_1", changed)).rejects.toMatchObject({
      kind: "conflict",
      code: "secret_key_changed",
    });
  });
});

describe("as whom an agent commits", () => {
  it.each([
    ["Ada Lovelace", "ada@example.com", "Ada Lovelace", "ada@example.com"],
    ["Zoë 京", null, "Zoë 京", "usr_1@noreply.muster.invalid"],
    ["A\nB <x@y>\u202e", "a@b\nc", "AB x@y", "a@bc"],
    ["--exec=x", "<>@", "exec=x", "usr_1@noreply.muster.invalid"],
    ["<>", "no address", "Muster", "usr_1@noreply.muster.invalid"],
  ])("%j and %j", (name, email, cleanName, cleanEmail) => {
    expect(identityOf({ id: "usr_1", name, email })).toEqual({
      name: cleanName,
      email: cleanEmail,
    });
  });
});

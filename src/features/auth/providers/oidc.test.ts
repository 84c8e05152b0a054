import { afterAll, beforeAll, expect, it } from "vitest";
import {
  type Account,
  CLIENT_ID,
  CLIENT_SECRET,
  type SignInServer,
  startSignInServer,
} from "#test/sign-in-server/sign-in-server.ts";
import { createOidc } from "./oidc.ts";

const ANN: Account = {
  subject: "a1",
  login: "ann",
  name: "Ann\u202e\nO'Neil",
  email: "Ann@Example.org",
  isVerified: true,
};
let server: SignInServer;
beforeAll(async () => {
  server = await startSignInServer();
});
afterAll(() => server.close());

/** Starts a provider for each test, with a clock that the test can advance. */
function start() {
  let aheadMs = 0;
  const settings = {
    issuer: server.issuer,
    clientId: CLIENT_ID,
    clientSecret: CLIENT_SECRET,
    name: "Company",
  };
  const oidc = createOidc(settings, () => Date.now() + aheadMs);
  const round = {
    state: "s",
    verifier: "v".repeat(43),
    nonce: "n",
    redirectUri: "https://muster.example.org/api/auth/oidc/callback",
  };
  return {
    goOn: (ms: number) => {
      aheadMs += ms;
    },
    away: () => oidc.authorizeUrl(round),
    async identify(account: Account = ANN) {
      const back = server.approve(await oidc.authorizeUrl(round), account);
      return oidc.identify({ code: back.searchParams.get("code") ?? "", iss: undefined }, round);
    },
  };
}

it("says who it was, in words that can be shown", async () => {
  expect(await start().identify()).toEqual({
    subject: "a1",
    label: "Ann@Example.org",
    name: "Ann O'Neil",
    emails: ["ann@example.org"],
  });
  const unverified = await start().identify({ ...ANN, isVerified: false });
  expect(unverified.emails).toEqual([]);
});

it("takes no address for verified unless the provider says exactly that", async () => {
  for (const email_verified of ["true", 1, null, undefined]) {
    server.lies = { claims: { email_verified } };
    expect((await start().identify()).emails).toEqual([]);
  }
  server.lies = {};
});

it("asks for keys again when there is a new one, but not all the time", async () => {
  const provider = start();
  await provider.identify();
  const keys = () => server.asked.filter((path) => path.endsWith("/keys")).length;
  const before = keys();
  await server.rotateKeys();
  await expect(provider.identify()).rejects.toMatchObject({ code: "identity_not_confirmed" });
  await expect(provider.identify()).rejects.toMatchObject({ code: "identity_not_confirmed" });
  expect(keys()).toBe(before);
  provider.goOn(31_000);
  expect((await provider.identify()).subject).toBe("a1");
  expect(keys()).toBe(before + 1);
});

it("keeps the document for a while", async () => {
  const provider = start();
  await provider.identify();
  const documents = () => server.asked.filter((path) => path.includes("well-known")).length;
  const before = documents();
  await provider.identify();
  expect(documents()).toBe(before);
  provider.goOn(10 * 60_000);
  await expect(provider.identify()).rejects.toMatchObject({ code: "identity_not_confirmed" });
  expect(documents()).toBe(before + 1);
});

it("insists on the issuer's name in the answer where the provider promises it", async () => {
  server.lies = { document: { authorization_response_iss_parameter_supported: true } };
  await expect(start().identify()).rejects.toMatchObject({ code: "identity_not_confirmed" });
  server.lies = {};
});

it("shows its secret in the body only to providers that want it so", async () => {
  server.lies = { document: { token_endpoint_auth_methods_supported: ["client_secret_post"] } };
  expect((await start().identify()).subject).toBe("a1");
  server.lies = {};
});

it("asks no further where the document is of another, or leads into the clear", async () => {
  const bad: Record<string, unknown>[] = [
    { issuer: "https://evil.example" },
    { issuer: `${server.issuer}/` },
    { token_endpoint: "http://evil.example/token" },
    { jwks_uri: "file:///etc/passwd" },
    { authorization_endpoint: "javascript:alert(1)" },
    { userinfo_endpoint: "no address" },
    { token_endpoint: undefined },
  ];
  for (const document of bad) {
    server.lies = { document };
    await expect(start().away()).rejects.toMatchObject({ code: "provider_unavailable" });
  }
  server.lies = {};
});

it("asks a provider that is away once in a while, however many want to sign in", async () => {
  const provider = start();
  const documents = () => server.asked.filter((path) => path.includes("well-known")).length;
  const before = documents();
  const refused = { code: "provider_unavailable" };
  server.lies = { document: { issuer: "https://evil.example" } };
  const tries = await Promise.allSettled(Array.from({ length: 20 }, () => provider.away()));
  expect(tries.map(({ status }) => status)).toEqual(Array(20).fill("rejected"));
  await expect(provider.away()).rejects.toMatchObject(refused);
  expect(documents()).toBe(before + 1);
  server.lies = {};
  provider.goOn(4_000);
  await expect(provider.away()).rejects.toMatchObject(refused);
  provider.goOn(2_000);
  expect(await provider.away()).toContain(`${server.issuer}/authorize?`);
  expect(documents()).toBe(before + 2);
});

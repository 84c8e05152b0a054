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
const NOT_CONFIRMED = { code: "identity_not_confirmed" };
const UNAVAILABLE = { code: "provider_unavailable" };
let server: SignInServer;
beforeAll(async () => {
  server = await startSignInServer();
});
afterAll(() => server.close());

/** Starts a provider for each test, with a clock that the test can advance. */
function start(redirectUri = "https://muster.example.org/api/auth/oidc/callback") {
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
    redirectUri,
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
  await expect(provider.identify()).rejects.toMatchObject(NOT_CONFIRMED);
  await expect(provider.identify()).rejects.toMatchObject(NOT_CONFIRMED);
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
  await expect(provider.identify()).rejects.toMatchObject(NOT_CONFIRMED);
  expect(documents()).toBe(before + 1);
});

it("insists on the issuer's name in the answer where the provider promises it", async () => {
  server.lies = { document: { authorization_response_iss_parameter_supported: true } };
  await expect(start().identify()).rejects.toMatchObject(NOT_CONFIRMED);
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
    { issuer: server.issuer.replace("http:", "HTTP:") },
    { token_endpoint: "http://evil.example/token" },
    { jwks_uri: "file:///etc/passwd" },
    { authorization_endpoint: "javascript:alert(1)" },
    { userinfo_endpoint: "no address" },
    { token_endpoint: undefined },
  ];
  for (const document of bad) {
    server.lies = { document };
    await expect(start().away()).rejects.toMatchObject(UNAVAILABLE);
  }
  server.lies = {};
});

it("asks a provider that is away once in a while, however many want to sign in", async () => {
  const provider = start();
  const documents = () => server.asked.filter((path) => path.includes("well-known")).length;
  const before = documents();
  server.lies = { document: { issuer: "https://evil.example" } };
  const tries = await Promise.allSettled(Array.from({ length: 20 }, () => provider.away()));
  expect(tries.map(({ status }) => status)).toEqual(Array(20).fill("rejected"));
  await expect(provider.away()).rejects.toMatchObject(UNAVAILABLE);
  expect(documents()).toBe(before + 1);
  server.lies = {};
  provider.goOn(4_000);
  await expect(provider.away()).rejects.toMatchObject(UNAVAILABLE);
  provider.goOn(2_000);
  expect(await provider.away()).toContain(`${server.issuer}/authorize?`);
  expect(documents()).toBe(before + 2);
});

it.each(["none", "public-key-as-secret"] as const)(
  "takes no ID token with the signature %s, even if the document allows it",
  async (signature) => {
    const algorithms = { id_token_signing_alg_values_supported: ["none", "HS256", "ES256"] };
    server.lies = { signature, document: algorithms };
    await expect(start().identify()).rejects.toMatchObject(NOT_CONFIRMED);
    server.lies = { document: algorithms };
    expect((await start().identify()).subject).toBe("a1");
    server.lies = {};
  },
);

it("needs nothing but the ID token, within its limits", async () => {
  for (const tokens of [{}, { token_type: "Bearer" }, { token_type: "x", expires_in: "soon" }]) {
    server.lies = { tokens: { access_token: undefined, ...tokens } };
    expect((await start().identify()).subject).toBe("a1");
  }
  server.lies = { isThin: true, tokens: { access_token: undefined } };
  const asked = server.asked.length;
  expect(await start().identify()).toMatchObject({ subject: "a1", emails: [] });
  expect(server.asked.slice(asked)).not.toContain("/oidc/userinfo");
  for (const id_token of [undefined, null, 5, "", "a.b", "a.b.c.d.e", "x".repeat(70_000)]) {
    server.lies = { tokens: { id_token } };
    await expect(start().identify()).rejects.toMatchObject(NOT_CONFIRMED);
  }
  server.lies = {};
});

it("refuses when the keys cannot be read, and uses no key that does not fit", async () => {
  for (const how of ["huge", "redirect", "error", "no-json"] as const) {
    server.lies = { broken: { path: /\/keys$/, how } };
    await expect(start().identify()).rejects.toMatchObject(UNAVAILABLE);
  }
  const wrong = ["x", [1], [{ kid: "x" }], Array(101).fill({ kty: "EC" })];
  for (const keys of wrong) {
    server.lies = { keys };
    await expect(start().identify()).rejects.toMatchObject(UNAVAILABLE);
  }
  for (const keys of [[], [{ kty: "EC", crv: "P-256" }], [{ kty: "oct", k: "eA" }]]) {
    server.lies = { keys };
    await expect(start().identify()).rejects.toMatchObject(NOT_CONFIRMED);
  }
  server.lies = {};
});

it("sends the redirect address both times as it is configured", async () => {
  const provider = start("https://Muster.Example.org:443/api/auth/oidc/callback");
  expect(await provider.away()).toContain("Muster.Example.org%3A443");
  expect((await provider.identify()).subject).toBe("a1");
});

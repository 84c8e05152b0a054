import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { loadConfig } from "./config.ts";
import { withoutSecrets } from "./secrets/known-secrets.ts";
import { readSecretSource } from "./sign-in-settings.ts";

describe("settings of signing in", () => {
  let home: string;
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), "muster-sign-in-"));
  });
  afterEach(() => rmSync(home, { recursive: true, force: true }));
  const load = (env: Record<string, string>) => loadConfig({ MUSTER_HOME: home, ...env }).signIn;
  const github = { MUSTER_GITHUB_CLIENT_ID: "id", MUSTER_GITHUB_CLIENT_SECRET: "secret" };
  const oidc = {
    MUSTER_OIDC_ISSUER: "https://id.example.org/",
    MUSTER_OIDC_CLIENT_ID: "id",
    MUSTER_OIDC_CLIENT_SECRET: "secret",
  };

  it("are none by default", () => {
    expect(load({})).toEqual({
      github: undefined,
      oidc: undefined,
      ownerPassword: undefined,
      ownerEmail: undefined,
    });
  });

  it("find GitHub's places", () => {
    expect(load(github).github).toMatchObject({
      url: "https://github.com",
      apiUrl: "https://api.github.com",
    });
    const own = { ...github, MUSTER_GITHUB_URL: "https://git.example.org/" };
    expect(load(own).github).toMatchObject({
      url: "https://git.example.org",
      apiUrl: "https://git.example.org/api/v3",
    });
    const api = { MUSTER_GITHUB_API_URL: "https://api.example.org" };
    expect(load({ ...own, ...api }).github?.apiUrl).toBe("https://api.example.org");
    // Repositories alone may live elsewhere.
    expect(load(api).github).toBeUndefined();
  });

  it("keep an issuer exactly as it is written", () => {
    expect(load(oidc).oidc).toMatchObject({
      issuer: "https://id.example.org/",
      name: "single sign-on",
    });
  });

  it("read a secret from a file when it is needed", () => {
    const file = join(home, "secret");
    const env = { MUSTER_GITHUB_CLIENT_ID: "id", MUSTER_GITHUB_CLIENT_SECRET_FILE: file };
    const source = load(env).github?.secret ?? { value: "" };
    expect(() => readSecretSource(source)).toThrow(/MUSTER_GITHUB_CLIENT_SECRET_FILE.*ENOENT/);
    for (const content of ["", "\n", "two\nlines", "x".repeat(5_000)]) {
      writeFileSync(file, content);
      expect(() => readSecretSource(source)).toThrow(/MUSTER_GITHUB_CLIENT_SECRET_FILE/);
    }
    writeFileSync(file, " a secret \r\n");
    expect(readSecretSource(source)).toBe(" a secret ");
  });

  it("are kept out of log lines from when they are read", () => {
    const said = "a-client-secret-that-was-given";
    expect(withoutSecrets(said)).toBe(said);
    readSecretSource({ value: said });
    const file = join(home, "secret");
    writeFileSync(file, "a-client-secret-in-a-file\n");
    readSecretSource({ setting: "MUSTER_OIDC_CLIENT_SECRET_FILE", file });
    expect(withoutSecrets(`${said} a-client-secret-in-a-file`)).toBe("[redacted] [redacted]");
  });

  const bad: [string, Record<string, string>, RegExp][] = [
    ["half of GitHub", { MUSTER_GITHUB_CLIENT_ID: "id" }, /MUSTER_GITHUB_CLIENT_SECRET: must/],
    ["the other half", { MUSTER_GITHUB_CLIENT_SECRET: "s" }, /MUSTER_GITHUB_CLIENT_ID: must/],
    [
      "a secret twice",
      { ...github, MUSTER_GITHUB_CLIENT_SECRET_FILE: "/x" },
      /MUSTER_GITHUB_CLIENT_SECRET: must not be set twice/,
    ],
    [
      "tokens of one GitHub for another",
      { ...github, MUSTER_GITHUB_API_URL: "https://git.example.org/api/v3" },
      /MUSTER_GITHUB_URL: must/,
    ],
    [
      "an API in the clear",
      {
        ...github,
        MUSTER_GITHUB_URL: "https://git.example.org",
        MUSTER_GITHUB_API_URL: "http://git.example.org",
      },
      /MUSTER_GITHUB_API_URL/,
    ],
    [
      "an issuer in the clear",
      { ...oidc, MUSTER_OIDC_ISSUER: "http://id.example.org" },
      /MUSTER_OIDC_ISSUER.*https/,
    ],
    [
      "an issuer with a query",
      { ...oidc, MUSTER_OIDC_ISSUER: "https://id.example.org?x" },
      /MUSTER_OIDC_ISSUER/,
    ],
    ["no issuer", { ...oidc, MUSTER_OIDC_ISSUER: "" }, /MUSTER_OIDC_ISSUER: must be set too/],
    ["a name of two lines", { ...oidc, MUSTER_OIDC_NAME: "a\nb" }, /MUSTER_OIDC_NAME/],
  ];
  it.each(bad)("refuse %s, by name", (_name, env, message) => {
    expect(() => load(env)).toThrow(message);
  });
});

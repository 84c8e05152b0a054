/**
 * A sign-in service on loopback: GitHub's OAuth and API, and an OpenID provider with real keys and
 * signed ID tokens. It makes the checks of a careful service (redirect address, client secret,
 * PKCE, single-use codes), and can be told to lie, to answer wrongly, or to be gone.
 */
import { generateKeyPairSync, hash, type KeyObject, randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import {
  type CryptoKey,
  exportJWK,
  exportSPKI,
  generateKeyPair,
  type JWTPayload,
  SignJWT,
} from "jose";

export const CLIENT_ID = "muster-test";
export const CLIENT_SECRET = "s3cret & more:%";

export interface Account {
  subject: string;
  login: string;
  name: string;
  email: string | null;
  isVerified: boolean;
}

/** Misbehaviour of the service; none by default. */
export interface Lies {
  /** Claims that replace the right ones. */
  claims?: JWTPayload;
  /**
   * The signature of the ID token: none, no base64, with the public key as a shared secret, or by another
   * key.
   */
  signature?: "none" | "garbled" | "public-key-as-secret" | "foreign-key" | "unknown-key-id";
  expired?: boolean;
  /** A path that answers with far too much, a redirect, a server error, or no JSON. */
  broken?: { path: RegExp; how: "huge" | "redirect" | "error" | "no-json" };
  /** Replaced fields of the discovery document. */
  document?: Record<string, unknown>;
  /** Replaced fields of the OpenID provider's token response. */
  tokens?: Record<string, unknown>;
  /** Replaced public keys of the OpenID provider. */
  keys?: unknown;
  userInfoSubject?: string;
  /** Leaves e-mail and name to the user info endpoint. */
  isThin?: boolean;
}

interface Grant {
  account: Account;
  redirectUri: string;
  challenge: string;
  nonce: string | null;
}

export interface SignInServer {
  url: string;
  issuer: string;
  env: Record<string, string>;
  lies: Lies;
  /** The account that real browsers sign in with; it approves everything. */
  visitor: Account | undefined;
  /** Requested paths, in order. */
  asked: string[];
  /** The person's approval at the service. Returns the address the browser is sent back to. */
  approve(authorizeUrl: string, account: Account): URL;
  rotateKeys(): Promise<void>;
  /** Refuses connections from now on. */
  goAway(): Promise<void>;
  close(): Promise<void>;
}

export async function startSignInServer(): Promise<SignInServer> {
  const service = new Service();
  await service.rotateKeys();
  const server = createServer((request, response) => {
    service.answer(request, response).catch((error: unknown) => {
      response.writeHead(500).end(String(error));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  service.url = url;
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return {
    url,
    issuer: `${url}/oidc`,
    env: {
      MUSTER_GITHUB_CLIENT_ID: CLIENT_ID,
      MUSTER_GITHUB_CLIENT_SECRET: CLIENT_SECRET,
      MUSTER_GITHUB_URL: url,
      MUSTER_GITHUB_API_URL: `${url}/api/v3`,
      MUSTER_OIDC_ISSUER: `${url}/oidc`,
      MUSTER_OIDC_CLIENT_ID: CLIENT_ID,
      MUSTER_OIDC_CLIENT_SECRET: CLIENT_SECRET,
      MUSTER_OIDC_NAME: "Company",
    },
    get lies() {
      return service.lies;
    },
    set lies(lies: Lies) {
      service.lies = lies;
    },
    get visitor() {
      return service.visitor;
    },
    set visitor(account: Account | undefined) {
      service.visitor = account;
    },
    asked: service.asked,
    approve: (authorizeUrl, account) => service.approve(authorizeUrl, account),
    rotateKeys: () => service.rotateKeys(),
    goAway: close,
    close,
  };
}

class Service {
  url = "";
  lies: Lies = {};
  visitor: Account | undefined;
  readonly asked: string[] = [];
  readonly #codes = new Map<string, Grant>();
  readonly #tokens = new Map<string, Account>();
  #keys: { privateKey: CryptoKey; publicKey: CryptoKey; id: string } | undefined;

  async rotateKeys(): Promise<void> {
    this.#keys = {
      ...(await generateKeyPair("ES256", { extractable: true })),
      id: randomBytes(4).toString("hex"),
    };
  }

  approve(authorizeUrl: string, account: Account): URL {
    const query = new URL(authorizeUrl).searchParams;
    const need = (name: string) => {
      const value = query.get(name);
      if (!value) throw new Error(`the authorization request has no ${name}`);
      return value;
    };
    if (need("client_id") !== CLIENT_ID) throw new Error("unknown client");
    if (need("code_challenge_method") !== "S256") throw new Error("no PKCE");
    const code = randomBytes(12).toString("hex");
    const redirectUri = need("redirect_uri");
    this.#codes.set(code, {
      account,
      redirectUri,
      challenge: need("code_challenge"),
      nonce: query.get("nonce"),
    });
    const back = new URL(redirectUri);
    back.searchParams.set("code", code);
    back.searchParams.set("state", need("state"));
    return back;
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = new URL(request.url ?? "/", this.url).pathname;
    this.asked.push(path);
    const { broken } = this.lies;
    if (broken?.path.test(path)) return misbehave(broken.how, response);
    if (this.visitor && path.endsWith("/authorize")) {
      const back = this.approve(`${this.url}${request.url}`, this.visitor);
      return void response.writeHead(302, { location: back.href }).end();
    }
    const form = new URLSearchParams(await bodyOf(request));
    const bearer = request.headers.authorization?.replace(/^Bearer /, "") ?? "";
    const found = await this.#route(path, form, request, this.#tokens.get(bearer));
    const text = JSON.stringify(found?.json ?? { message: "Not Found" });
    response.writeHead(found?.status ?? 404, { "content-type": "application/json" }).end(text);
  }

  async #route(
    path: string,
    form: URLSearchParams,
    request: IncomingMessage,
    account: Account | undefined,
  ): Promise<{ status: number; json: unknown } | undefined> {
    const ok = (json: unknown) => ({ status: 200, json });
    switch (path) {
      case "/login/oauth/access_token":
        return ok(this.#githubToken(form));
      case "/api/v3/user":
        return (
          account && ok({ id: Number(account.subject), login: account.login, name: account.name })
        );
      case "/api/v3/user/emails":
        return account && ok(emailsOf(account));
      case "/oidc/.well-known/openid-configuration":
        return ok(this.#document());
      case "/oidc/keys":
        return ok({ keys: this.lies.keys ?? [await this.#publicJwk()] });
      case "/oidc/token":
        return this.#oidcToken(form, request.headers.authorization ?? "");
      case "/oidc/userinfo":
        return (
          account && ok({ ...claimsOf(account), sub: this.lies.userInfoSubject ?? account.subject })
        );
    }
    return undefined;
  }

  #githubToken(form: URLSearchParams): object {
    const isClient =
      form.get("client_id") === CLIENT_ID && form.get("client_secret") === CLIENT_SECRET;
    const grant = isClient ? this.#redeem(form) : undefined;
    // GitHub refuses with status 200.
    return grant
      ? { access_token: this.#issue(grant.account) }
      : { error: "bad_verification_code" };
  }

  async #oidcToken(form: URLSearchParams, authorization: string) {
    const encoded = new URLSearchParams([[CLIENT_ID, CLIENT_SECRET]]).toString().replace("=", ":");
    const inBody = this.#document().token_endpoint_auth_methods_supported !== undefined;
    const isClient = inBody
      ? form.get("client_secret") === CLIENT_SECRET && authorization === ""
      : authorization === `Basic ${Buffer.from(encoded).toString("base64")}`;
    const grant = isClient ? this.#redeem(form) : undefined;
    if (!grant) return { status: 400, json: { error: "invalid_grant" } };
    const id_token = await this.#idToken(grant);
    const access_token = this.#issue(grant.account);
    return { status: 200, json: { id_token, access_token, ...this.lies.tokens } };
  }

  /** Redeems a code once, for the same redirect address, with the right verifier. */
  #redeem(form: URLSearchParams): Grant | undefined {
    const code = form.get("code") ?? "";
    const grant = this.#codes.get(code);
    this.#codes.delete(code);
    const challenge = hash("sha256", form.get("code_verifier") ?? "", "base64url");
    const fits = grant?.redirectUri === form.get("redirect_uri") && grant?.challenge === challenge;
    return fits ? grant : undefined;
  }

  #issue(account: Account): string {
    const token = randomBytes(16).toString("hex");
    this.#tokens.set(token, account);
    return token;
  }

  #document(): Record<string, unknown> {
    const at = `${this.url}/oidc`;
    return {
      issuer: at,
      authorization_endpoint: `${at}/authorize`,
      token_endpoint: `${at}/token`,
      jwks_uri: `${at}/keys`,
      userinfo_endpoint: `${at}/userinfo`,
      ...this.lies.document,
    };
  }

  async #publicJwk() {
    if (!this.#keys) throw new Error("no keys");
    const { publicKey, id } = this.#keys;
    return { ...(await exportJWK(publicKey)), kid: id, alg: "ES256", use: "sig" };
  }

  async #idToken({ account, nonce }: Grant): Promise<string> {
    if (!this.#keys) throw new Error("no keys");
    const { signature, expired, claims, isThin } = this.lies;
    const now = Math.floor(Date.now() / 1_000);
    const payload = {
      iss: `${this.url}/oidc`,
      aud: CLIENT_ID,
      sub: account.subject,
      iat: now - (expired ? 1_000 : 0),
      exp: now + (expired ? -600 : 300),
      ...(nonce === null ? {} : { nonce }),
      ...(isThin ? {} : claimsOf(account)),
      ...claims,
    };
    const { privateKey, publicKey, id } = this.#keys;
    if (signature === "none") return unsigned(payload);
    if (signature === "public-key-as-secret") {
      const secret = new TextEncoder().encode(await exportSPKI(publicKey));
      return new SignJWT(payload).setProtectedHeader({ alg: "HS256", kid: id }).sign(secret);
    }
    const kid = signature === "unknown-key-id" ? "other" : id;
    const key: CryptoKey | KeyObject =
      signature === "foreign-key"
        ? generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey
        : privateKey;
    const token = await new SignJWT(payload).setProtectedHeader({ alg: "ES256", kid }).sign(key);
    return signature === "garbled" ? `${token.slice(0, token.lastIndexOf("."))}.%%%` : token;
  }
}

function unsigned(payload: object): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  return `${part({ alg: "none", typ: "JWT" })}.${part(payload)}.`;
}

function claimsOf({ subject, login, name, email, isVerified }: Account): JWTPayload {
  return {
    sub: subject,
    name,
    preferred_username: login,
    ...(email === null ? {} : { email, email_verified: isVerified }),
  };
}

function emailsOf({ email, isVerified }: Account): object[] {
  const second = { email: "other@example.org", primary: false, verified: false };
  return email === null ? [second] : [second, { email, primary: true, verified: isVerified }];
}

function misbehave(how: "huge" | "redirect" | "error" | "no-json", response: ServerResponse): void {
  if (how === "redirect") response.writeHead(302, { location: "http://127.0.0.1:1/" }).end();
  else if (how === "error") response.writeHead(500).end("{}");
  else if (how === "no-json") response.writeHead(200).end("<html>");
  else {
    response.writeHead(200, { "content-type": "application/json" });
    response.end(`{"x":"${"y".repeat(2_000_000)}"}`);
  }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request) text += String(chunk);
  return text;
}

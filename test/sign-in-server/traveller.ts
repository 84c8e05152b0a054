/** A browser that goes to a sign-in service and comes back, with its cookies and nothing else. */
import type { Platform } from "#test/platform.ts";
import type { Account, SignInServer } from "./sign-in-server.ts";

export type ProviderId = "github" | "oidc";

export interface Landed {
  status: number;
  /** The address that the browser was sent to. */
  location: string;
  setCookies: string[];
}

export class Traveller {
  readonly #platform: Platform;
  readonly #server: SignInServer;
  readonly #headers: Record<string, string>;
  readonly cookies = new Map<string, string>();

  /** `forwardedFor`: the client address that a proxy adds. */
  constructor(platform: Platform, server: SignInServer, cookie?: string, forwardedFor?: string) {
    this.#platform = platform;
    this.#server = server;
    this.#headers = forwardedFor === undefined ? {} : { "x-forwarded-for": forwardedFor };
    if (cookie !== undefined) this.#keep(cookie);
  }

  get cookie(): string {
    return [...this.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
  }

  /** Follows a link on our page; returns its target. */
  async start(provider: ProviderId, query = ""): Promise<Landed> {
    return this.visit(`${this.#platform.url}/api/auth/${provider}/start${query}`);
  }

  /** Presses a button on our page that sends a POST. */
  async post<T = { url: string }>(
    path: string,
    body: object,
  ): Promise<{ status: number; body: T & { error?: { code: string } } }> {
    const response = await fetch(this.#platform.url + path, {
      method: "POST",
      headers: {
        cookie: this.cookie,
        origin: this.#platform.url,
        "content-type": "application/json",
      },
      body: JSON.stringify(body),
    });
    for (const set of response.headers.getSetCookie()) this.#keep(set);
    return { status: response.status, body: (await response.json()) as never };
  }

  async visit(url: string | URL): Promise<Landed> {
    // A navigation from another site does not send strict cookies.
    const isBack = String(url).includes("/callback");
    const sent = [...this.cookies].filter(([name]) => !isBack || name.includes("_flow_"));
    const cookie = sent.map(([name, value]) => `${name}=${value}`).join("; ");
    const headers = { ...this.#headers, cookie };
    const response = await fetch(url, { headers, redirect: "manual" });
    const setCookies = response.headers.getSetCookie();
    for (const set of setCookies) this.#keep(set);
    const location = response.headers.get("location") ?? "";
    return { status: response.status, location, setCookies };
  }

  /** Signs in at the service and comes back. */
  async signIn(provider: ProviderId, account: Account, query = ""): Promise<Landed> {
    const away = await this.start(provider, query);
    return this.visit(this.#server.approve(away.location, account));
  }

  async join(provider: ProviderId, account: Account, invitation: string): Promise<Landed> {
    const { body } = await this.post(`/api/auth/${provider}/start`, { invitation });
    return this.visit(this.#server.approve(body.url, account));
  }

  async link(provider: ProviderId, account: Account, currentPassword?: string): Promise<Landed> {
    const { body } = await this.post(`/api/auth/${provider}/link`, { currentPassword });
    return this.visit(this.#server.approve(body.url, account));
  }

  async request<T = Record<string, unknown>>(method: string, path: string) {
    const response = await fetch(this.#platform.url + path, {
      method,
      headers: { cookie: this.cookie, origin: this.#platform.url },
    });
    for (const set of response.headers.getSetCookie()) this.#keep(set);
    return { status: response.status, body: (await response.json()) as T };
  }

  async me(): Promise<string | undefined> {
    const { body } = await this.request<{ user?: { id: string } }>("GET", "/api/me");
    return body.user?.id;
  }

  #keep(set: string): void {
    const [pair = ""] = set.split(";");
    const at = pair.indexOf("=");
    const [name, value] = [pair.slice(0, at), pair.slice(at + 1)];
    if (value === "") this.cookies.delete(name);
    else this.cookies.set(name, value);
  }
}

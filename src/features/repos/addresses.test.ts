import { describe, expect, it } from "vitest";
import {
  githubWebUrl,
  isFullName,
  nameFromAddress,
  parseAddress,
  requireSafeForCredential,
} from "./addresses.ts";

describe("addresses of repositories", () => {
  it.each([
    ["https://github.com/acme/app.git", "web", "github.com/acme/app", "acme/app"],
    ["https://GitHub.com/Acme/App/", "web", "github.com/acme/app", "Acme/App"],
    ["http://127.0.0.1:3000/a/b/c", "web", "127.0.0.1:3000/a/b/c", "b/c"],
    ["git@github.com:acme/app.git", "ssh", "ssh:git@github.com/acme/app", "acme/app"],
    [
      "ssh://git@host.example:2222/acme/app.git",
      "ssh",
      "ssh:git@host.example:2222/acme/app",
      "acme/app",
    ],
    ["ssh://host.example/app", "ssh", "ssh:host.example/app", "app"],
    ["/srv/git/app", "path", "/srv/git/app", "app"],
    ["/srv/git/../git/app/", "path", "/srv/git/app", "app"],
    ["file:///srv/git/My%20App", "path", "/srv/git/My App", "My App"],
    ["  https://example.org/x  ", "web", "example.org/x", "x"],
    ["https://example.org.:8443/a/%41pp.git", "web", "example.org:8443/a/app", "a/App"],
    ["https://example.org/Gr%C3%B6%C3%9Fe/x", "web", "example.org/größe/x", "Größe/x"],
    ["https://example.org/Gro%CC%88%C3%9Fe/x", "web", "example.org/größe/x", "Größe/x"],
    ["ssh://git@host.example:22/acme/app", "ssh", "ssh:git@host.example/acme/app", "acme/app"],
    ["/srv/git/app/.git/", "path", "/srv/git/app", "app"],
  ])("%s", (text, kind, key, name) => {
    const address = parseAddress(text);
    expect(address).toMatchObject({ kind, key });
    expect(nameFromAddress(address)).toBe(name);
  });

  it.each([
    ["https://token@github.com/acme/app", "url_holds_credentials"],
    ["https://me:pass@github.com/acme/app", "url_holds_credentials"],
    ["ssh://git:pass@host/acme/app", "url_holds_credentials"],
    ["ext::sh -c touch% /tmp/x", "url_invalid"],
    ["fd::17", "url_invalid"],
    ["--upload-pack=touch /tmp/x", "url_invalid"],
    ["git@host:-oProxyCommand=x", "url_invalid"],
    ["-oProxyCommand=x:y", "url_invalid"],
    ["git://example.org/x", "url_invalid"],
    ["ftp://example.org/x", "url_invalid"],
    ["javascript:alert(1)//", "url_invalid"],
    ["file://host/share/x", "url_invalid"],
    ["https://example.org", "url_invalid"],
    ["https://example.org/x?token=y", "url_invalid"],
    ["https://example.org/x#y", "url_invalid"],
    ["https://", "url_invalid"],
    ["../x", "url_invalid"],
    ["~/x", "url_invalid"],
    ["host:x", "url_invalid"],
    ["x", "url_invalid"],
    ["", "url_invalid"],
    ["/srv/a\u0000b", "url_invalid"],
    ["https://example.org/a\nb", "url_invalid"],
    ["https://example.org/\u202eb", "url_invalid"],
    ["https://example.org/\ud800", "url_invalid"],
    [`https://example.org/${"x".repeat(2_000)}`, "url_invalid"],
  ])("refuses %j", (text, code) => {
    let thrown: unknown;
    try {
      thrown = { taken: parseAddress(text) };
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toMatchObject({ code });
    expect(JSON.stringify(thrown)).not.toContain("pass");
  });

  it.each([
    ["acme/app", true, true],
    ["acme/app.js", true, true],
    ["acme/.github", true, false],
    ["app", false, true],
    ["group/sub/app", false, true],
    ["acme/..", false, false],
    ["../app", false, false],
    ["a/../b", false, false],
    ["acme/", false, false],
    ["/acme", false, false],
    ["acme/app/../../etc", false, false],
    ["acme\\app", false, false],
    ["acme/a b", false, false],
    ["-x/app", false, false],
    ["acme/a\u0000", false, false],
    ["x".repeat(201), false, false],
  ])("%j is a name on GitHub: %s, elsewhere: %s", (name, onGithub, elsewhere) => {
    expect(isFullName(name, "github")).toBe(onGithub);
    expect(isFullName(name, "git")).toBe(elsewhere);
  });

  it("sends no credential in the clear", () => {
    const check = (url: string) => () => requireSafeForCredential(parseAddress(url));
    for (const url of ["https://a.example/x", "http://127.0.0.1:3/x", "http://localhost/x", "/x"])
      expect(check(url)).not.toThrow();
    for (const url of ["http://a.example/x", "http://127.0.0.1.a.example/x"])
      expect(check(url)).toThrow(expect.objectContaining({ code: "credential_needs_https" }));
  });

  it("knows where pages are, beside an API", () => {
    expect(githubWebUrl("https://api.github.com")).toBe("https://github.com");
    expect(githubWebUrl("https://git.corp.example/api/v3")).toBe("https://git.corp.example");
  });
});

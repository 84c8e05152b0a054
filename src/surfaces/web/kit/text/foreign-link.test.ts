import { describe, expect, it } from "vitest";
import { foreignLink } from "./foreign-link.ts";

const HERE = "http://127.0.0.1:4747";
const at = (address: string, here = HERE) => foreignLink(address, here);

describe("a link in somebody else's text", () => {
  it.each([
    ["https://example.org/a?b=c#d", "https://example.org/a?b=c#d"],
    ["http://localhost:3000/", "http://localhost:3000/"],
    ["//example.org/x", "http://example.org/x"],
    ["mailto:ann@example.org", "mailto:ann@example.org"],
    ["https://example.org/joinery", "https://example.org/joinery"],
    // Readable pages at this origin, whatever name was used for it.
    ["/sessions/ses_01", "/sessions/ses_01"],
    ["/board/ses_01/tsk_01", "/board/ses_01/tsk_01"],
    ["/inbox/thr_01", "/inbox/thr_01"],
    ["/memory", "/memory"],
    ["http://127.0.0.1:4747/sessions/ses_01", "/sessions/ses_01"],
    ["http://localhost:4747/sessions/ses_01", "/sessions/ses_01"],
    ["http://[::1]:4747/inbox", "/inbox"],
  ])("leads there: %s", (address, target) => {
    expect(at(address)).toBe(target);
  });

  it.each([
    "/sign-in#token=mst_link_x",
    "/sign-in",
    "sign-in#token=x",
    "./sign-in#token=x",
    "/x/../sign-in#token=x",
    "/SIGN-IN#token=x",
    "/sign%2din#token=x",
    "/%73ign-in#token=x",
    "/%2573ign-in#token=x",
    "//127.0.0.1:4747/sign-in#token=x",
    "http://127.0.0.1:4747/sign-in#token=x",
    "http://localhost:4747/sign-in#token=x",
    "http://muster.localhost:4747/sign-in#token=x",
    "http://2130706433:4747/sign-in#token=x",
    "http://0x7f.1:4747//sign-in#token=x",
    "http://0.0.0.0:4747/sessions/../sign-in#token=x",
    "https://muster.example/sign-in#token=x",
    "https://muster.example/%6Aoin/#token=x",
    "/join#token=x",
    "/join/",
    "/\\127.0.0.1:4747/sign-in",
    "\\\\127.0.0.1:4747\\sign-in",
    "/sign-\nin#token=x",
    "/api/auth/github/start",
    "/api/me",
    "/preview/x",
    "/settings/keys",
    "/models",
    "/rules",
    "/sessions/ses_01?x=1",
    "/sessions/ses_01#token=x",
    "/sessions/%2e%2e/sign-in",
    "/sessions/..%2fsign-in",
    "?q=1",
    "",
    "#top",
    "http://user:pass@example.org/",
    "http://127.0.0.1:4747@evil.example/",
    "javascript:alert(1)",
    "data:text/html,x",
    "ftp://example.org/",
    "irc://example.org/",
    "tel:123",
    "file:///etc/passwd",
    "http://",
  ])("leads nowhere: %j", (address) => {
    expect(at(address)).toBeUndefined();
  });

  it("knows its own origin over HTTPS", () => {
    const here = "https://muster.example";
    expect(at("https://muster.example/sessions/ses_1", here)).toBe("/sessions/ses_1");
    expect(at("https://muster.example./settings", here)).toBeUndefined();
    expect(at("http://muster.example/settings", here)).toBeUndefined();
    expect(at("https://other.example/settings", here)).toBe("https://other.example/settings");
  });
});

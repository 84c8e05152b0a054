import { describe, expect, it } from "vitest";
import { bannerOf } from "./banner.ts";

const ready = {
  url: "http://127.0.0.1:4747",
  keyFile: "/home/ada/.muster/owner.key",
  link: "http://127.0.0.1:4747/sign-in#token=mst_link_secret",
  sandbox: { kind: "works" } as const,
};

describe("what is printed when the server is ready", () => {
  it("is an address, a link for a person at a terminal, and nothing to worry about", () => {
    expect(bannerOf(ready)).toContain("Open   http://127.0.0.1:4747/sign-in#token=mst_link_secret");
    expect(bannerOf(ready)).not.toMatch(/sandbox/i);
  });

  it("holds no link where it may be kept, and says how to get one", () => {
    const text = bannerOf({ ...ready, link: null });
    expect(text).not.toContain("token");
    expect(text).toContain("npx muster login-link");
  });

  it("says in a sentence that a sandbox is missing, and the command for it", () => {
    const why = "Bubblewrap is not installed.";
    const text = bannerOf({ ...ready, sandbox: { kind: "missing", why, fix: "apt" } });
    expect(text).toContain("Agents cannot run commands yet. Bubblewrap is not installed.");
    expect(text).toContain("run: sudo apt-get install -y bubblewrap");
  });

  it("says that agents work without one, and by whose word", () => {
    expect(bannerOf({ ...ready, sandbox: { kind: "setting" } })).toContain("MUSTER_SANDBOX=local");
    expect(bannerOf({ ...ready, sandbox: { kind: "consent", fix: null } })).toContain(
      "WITHOUT A SANDBOX, as allowed on the page",
    );
  });
});

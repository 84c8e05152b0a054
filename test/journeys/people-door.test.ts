/** Who may be let in from other machines, and when. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { startPlatform } from "#test/platform.ts";
import { PASSWORD } from "./people-clients.ts";

describe("binding beyond this machine", () => {
  it("is refused until others could reach it by its name, and an admin can sign in", async () => {
    const home = mkdtempSync(join(tmpdir(), "muster-door-"));
    const start = (env: Record<string, string>) =>
      startPlatform({ runner: false, env: { MUSTER_HOME: home, ...env } });
    const open = { MUSTER_HOST: "0.0.0.0", MUSTER_PUBLIC_URL: "https://muster.example.org" };
    await expect(start({ MUSTER_HOST: "0.0.0.0" })).rejects.toThrow("MUSTER_PUBLIC_URL");
    await expect(start(open)).rejects.toThrow("npx muster password");
    const alone = await start({});
    const set = await alone.request("PUT", "/api/me/password", {
      newPassword: PASSWORD,
      email: "owner@example.org",
    });
    expect(set.status).toBe(200);
    await alone.stop();
    const reachable = await start(open);
    expect(reachable.url).toBe("https://muster.example.org");
    await reachable.stop();
    rmSync(home, { recursive: true });
  });
});

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { silentLog } from "#base/log.ts";
import { createLocal } from "./local/local.ts";
import { MachineSandbox } from "./machine-sandbox.ts";
import { DEFAULT_LIMITS, type SandboxProbe, type SandboxProvider } from "./sandbox.ts";

const MISSING: SandboxProbe = { usable: false, why: "Bubblewrap is not installed.", fix: "apt" };
const WORKS: SandboxProbe = {
  usable: true,
  enforced: { processes: null, memoryBytes: null, fileBytes: null },
};

describe("the sandbox of a machine", () => {
  let folder: string;
  let probe: SandboxProbe;
  let sandbox: MachineSandbox;
  const local = createLocal({ path: "/usr/bin:/bin", controlGroups: null });
  const spec = () => ({
    workspaceFolder: folder,
    scratchFolder: join(folder, "scratch"),
    allowedHosts: [],
    limits: DEFAULT_LIMITS,
  });

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), "muster-machine-"));
    probe = MISSING;
    // Opens a local sandbox under the other name: only the choice is tested here.
    const bubblewrap: SandboxProvider = {
      kind: "bubblewrap",
      probe: async () => probe,
      open: (given) => local.open(given),
    };
    sandbox = new MachineSandbox({ setting: "bubblewrap", bubblewrap, local, log: silentLog });
    await sandbox.look();
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const refusesNow = { code: "sandbox_unavailable" };

  it("opens nothing while there is none", () => {
    expect(() => sandbox.current()).toThrow(expect.objectContaining(refusesNow));
    expect(sandbox.report()).toEqual({
      kind: "bubblewrap",
      why: "Bubblewrap is not installed.",
      fix: "apt",
      enforced: {},
    });
  });

  it("works without one by consent, and says so", async () => {
    await sandbox.consent(true);
    expect(sandbox.current().kind).toBe("local");
    expect(sandbox.report()).toMatchObject({ kind: "local", why: null, fix: "apt" });
    expect(sandbox.isLacking).toBe(true);
  });

  it("kills what runs and begins nothing more when the consent is taken back", async () => {
    await sandbox.consent(true);
    const provider = sandbox.current();
    const opened = await provider.open(spec());
    const running = opened.run({ argv: ["sleep", "600"] });
    running.stdout.resume();
    running.stderr.resume();
    const revoked = sandbox.consent(false);
    // Refused at once, before anything has been awaited.
    expect(() => opened.run({ argv: ["true"] })).toThrow(expect.objectContaining(refusesNow));
    expect(provider.isCurrent?.()).toBe(false);
    await revoked;
    expect((await running.ended).exitCode).not.toBe(0);
    await expect(provider.open(spec())).rejects.toMatchObject(refusesNow);
    await sandbox.consent(true);
    // A sandbox opened before stays closed; it must be opened anew.
    expect(() => opened.run({ argv: ["true"] })).toThrow(expect.objectContaining(refusesNow));
  });

  it("prefers bubblewrap as soon as it works, and never goes back from it", async () => {
    await sandbox.consent(true);
    const before = sandbox.current();
    probe = WORKS;
    await sandbox.look();
    expect(before.isCurrent?.()).toBe(false);
    expect(sandbox.current().kind).toBe("bubblewrap");
    expect(sandbox.report()).toMatchObject({ kind: "bubblewrap", why: null, fix: null });
    probe = MISSING;
    await sandbox.look();
    await sandbox.consent(false);
    await sandbox.consent(true);
    expect(sandbox.current().kind).toBe("bubblewrap");
  });

  it("follows the machine's own setting without any consent", async () => {
    const set = new MachineSandbox({
      setting: "local",
      bubblewrap: { kind: "bubblewrap", probe: async () => WORKS, open: local.open },
      local,
      log: silentLog,
    });
    await set.look();
    expect(set.current().kind).toBe("local");
    await set.consent(false);
    expect(set.report()).toMatchObject({ kind: "local", why: null });
    expect(set.isLacking).toBe(false);
  });
});

/**
 * `npm start` prepares a sandbox; the package managers here are scripts that record their calls.
 */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Checkout, makeCheckout } from "./checkout.ts";

const ROOT = 0;
const SOMEBODY = 1000;

describe.skipIf(process.platform !== "linux")("the sandbox, before the program starts", () => {
  let checkout: Checkout;
  beforeEach(() => {
    checkout = makeCheckout();
  });
  afterEach(() => rmSync(checkout.folder, { recursive: true, force: true }));

  const ensure = (user: number, env: Record<string, string> = {}) =>
    checkout.run(
      `process.getuid = () => ${user};
       const { ensureSandbox } = await import("./scripts/bootstrap/sandbox.mjs");
       result = (await ensureSandbox(process.env, progress)).PATH;`,
      env,
    );
  const calls = () =>
    existsSync(join(checkout.folder, "calls"))
      ? readFileSync(join(checkout.folder, "calls"), "utf8").trim().split("\n")
      : [];
  /** `$verb` is their first argument that is not an option. */
  const manager = (name: string, script: string) =>
    checkout.program(
      name,
      `echo "${name} $*" >> "${checkout.folder}/calls"
       for word in "$@"; do case $word in install|update|download|add|--sync) verb=$word; esac; done
       ${script}`,
    );
  const bwrap = (file: string, exitCode = 0) =>
    `printf '#!/bin/sh\\nexit ${exitCode}\\n' > "${file}" && /bin/chmod 755 "${file}"`;

  it("uses the system's and calls no package manager", async () => {
    checkout.program("bwrap", "exit 0");
    manager("apt-get", "exit 1");
    expect(await ensure(ROOT)).toEqual({ result: checkout.bin, told: "", failure: null });
    expect(calls()).toEqual([]);
  });

  it.each(["apt-get", "dnf", "pacman", "apk"])(
    "installs it as root with %s, and says so",
    async (name) => {
      manager(name, bwrap(join(checkout.bin, "bwrap")));
      const { result, told } = await ensure(ROOT);
      expect(result).toBe(checkout.bin);
      expect(told).toBe(`Installing bubblewrap with ${name}\n`);
      expect(calls()).toHaveLength(1);
      expect(calls()[0]).toMatch(/bubblewrap$/);
    },
  );

  it("downloads the package lists first where there are none", async () => {
    manager(
      "apt-get",
      `case $verb in
         update) : > "${checkout.folder}/lists";;
         install) [ -e "${checkout.folder}/lists" ] || exit 100; ${bwrap(join(checkout.bin, "bwrap"))};;
       esac`,
    );
    expect((await ensure(ROOT)).told).toBe("Installing bubblewrap with apt-get\n");
    expect(calls().map((line) => /install|update/.exec(line)?.[0])).toEqual([
      "install",
      "update",
      "install",
    ]);
  });

  it("starts all the same when installing fails, and says why in a sentence", async () => {
    manager("apt-get", `echo "E: Unable to locate package bubblewrap" >&2; exit 100`);
    const { result, told, failure } = await ensure(ROOT);
    expect({ result, failure }).toEqual({ result: checkout.bin, failure: null });
    expect(told).toContain(
      "Bubblewrap could not be set up: apt-get install failed (E: Unable to locate package bubblewrap). The web page says what to do.",
    );
  });

  it("says nothing where there is no known package manager", async () => {
    expect(await ensure(ROOT)).toEqual({ result: checkout.bin, told: "", failure: null });
    expect(await ensure(SOMEBODY)).toEqual({ result: checkout.bin, told: "", failure: null });
  });

  it("leaves a broken one to the runner's explanation", async () => {
    checkout.program("bwrap", "exit 1");
    manager("apt-get", "exit 0");
    expect(await ensure(ROOT)).toEqual({ result: checkout.bin, told: "", failure: null });
    expect(calls()).toEqual([]);
  });

  it("does nothing for people who chose to work without one", async () => {
    manager("apt-get", "exit 0");
    await ensure(ROOT, { MUSTER_SANDBOX: "local" });
    mkdirSync(join(checkout.folder, ".muster"));
    writeFileSync(
      join(checkout.folder, ".muster/muster.config.json"),
      JSON.stringify({ MUSTER_SANDBOX: "local" }),
    );
    await ensure(ROOT);
    expect(calls()).toEqual([]);
  });

  describe("without root", () => {
    const unpacked = () => join(checkout.folder, ".cache/bubblewrap/usr/bin");
    const dpkgDeb = (exitCode: number) =>
      checkout.program(
        "dpkg-deb",
        `[ -e "$2" ] || exit 9; /bin/mkdir -p "$3/usr/bin" && ${bwrap("$3/usr/bin/bwrap", exitCode)}`,
      );
    const download = ": > bubblewrap_0.9.0_amd64.deb";

    it("unpacks the distribution's package beside the project, once", async () => {
      manager("apt-get", download);
      dpkgDeb(0);
      const first = await ensure(SOMEBODY);
      expect(first.result).toBe(`${checkout.bin}:${unpacked()}`);
      expect(first.told).toBe("Unpacking bubblewrap beside the project\n");
      expect(await ensure(SOMEBODY)).toEqual({ ...first, told: "" });
      expect(calls()).toHaveLength(1);
      expect(existsSync(join(checkout.folder, ".cache/bubblewrap.new"))).toBe(false);
    });

    it("downloads its own lists where the system has none", async () => {
      manager(
        "apt-get",
        `lists="${checkout.folder}/lists"
         case "$verb $*" in
           update*Dir::State::lists=*) : > "$lists";;
           download*) [ -e "$lists" ] || exit 100; ${download};;
           *) exit 100;;
         esac`,
      );
      dpkgDeb(0);
      expect((await ensure(SOMEBODY)).result).toBe(`${checkout.bin}:${unpacked()}`);
      expect(calls()).toHaveLength(3);
    });

    it("keeps none that cannot make a sandbox", async () => {
      manager("apt-get", download);
      dpkgDeb(1);
      const { result, told, failure } = await ensure(SOMEBODY);
      expect({ result, failure }).toEqual({ result: checkout.bin, failure: null });
      expect(told).toContain("this system does not let it make a sandbox");
      expect(existsSync(join(checkout.folder, ".cache/bubblewrap"))).toBe(false);
    });

    it("never asks a package manager to install anything", async () => {
      for (const name of ["dnf", "pacman", "apk"]) manager(name, "exit 0");
      expect(await ensure(SOMEBODY)).toEqual({ result: checkout.bin, told: "", failure: null });
      expect(calls()).toEqual([]);
    });
  });
});

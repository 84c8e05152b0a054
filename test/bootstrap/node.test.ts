/** The bootstrap installs only the Node whose hash it knows, whatever the registry sends. */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Checkout, makeCheckout } from "./checkout.ts";

const NAME = "node-made-up";
const VERSION = "24.99.0";
/** npm reads some hundred files of its own, which may be slow on a cold disk. */
const NPM_TIMEOUT_MS = 120_000;

describe.skipIf(process.platform === "win32")(
  "the Node that is downloaded",
  {
    timeout: NPM_TIMEOUT_MS,
  },
  () => {
    let checkout: Checkout;
    let registry: Server;
    beforeEach(() => {
      checkout = makeCheckout();
    });
    afterEach(() => {
      registry?.close();
      rmSync(checkout.folder, { recursive: true, force: true });
    });

    /** A package whose program leaves a trace when it is run. */
    function pack(comment: string): Buffer {
      const folder = join(checkout.folder, "packed/package");
      mkdirSync(join(folder, "bin"), { recursive: true });
      writeFileSync(join(folder, "package.json"), JSON.stringify({ name: NAME, version: VERSION }));
      const ran = join(checkout.folder, "ran");
      writeFileSync(
        join(folder, "bin/node"),
        `#!/bin/sh\n# ${comment}\n: > "${ran}"\necho v${VERSION}\n`,
      );
      chmodSync(join(folder, "bin/node"), 0o755);
      execFileSync("tar", ["-czf", "../package.tgz", "package"], { cwd: dirname(folder) });
      return readFileSync(join(checkout.folder, "package.tgz"));
    }

    const integrityOf = (tarball: Buffer) =>
      `sha512-${createHash("sha512").update(tarball).digest("base64")}`;

    /** Serves a tarball with a matching hash, as a compromised registry would. */
    async function serve(tarball: Buffer): Promise<string> {
      registry = createServer((request, response) => {
        const address = `http://${request.headers.host}`;
        if (request.url?.endsWith(".tgz")) return void response.end(tarball);
        const dist = { tarball: `${address}/${NAME}.tgz`, integrity: integrityOf(tarball) };
        const versions = { [VERSION]: { name: NAME, version: VERSION, dist } };
        response.setHeader("content-type", "application/json");
        response.end(JSON.stringify({ name: NAME, "dist-tags": { latest: VERSION }, versions }));
      });
      await new Promise<void>((resolve) => registry.listen(0, "127.0.0.1", resolve));
      return `http://127.0.0.1:${(registry.address() as AddressInfo).port}/`;
    }

    const install = (integrity: string, address: string) =>
      checkout.run(
        `const { installNode } = await import("./scripts/bootstrap/node.mjs");
       result = await installNode(${JSON.stringify({ name: NAME, version: VERSION, integrity })}, progress);`,
        {
          PATH: process.env.PATH ?? "",
          npm_config_registry: address,
          npm_config_cache: join(checkout.folder, "npm-cache"),
          npm_config_userconfig: join(checkout.folder, "no-settings"),
          npm_config_globalconfig: join(checkout.folder, "no-global-settings"),
        },
      );

    it("is run when its hash is the pinned one", async () => {
      const tarball = pack("as published");
      const { result, failure } = await install(integrityOf(tarball), await serve(tarball));
      expect(failure).toBeNull();
      expect(result).toBe(join(checkout.folder, ".node/node_modules", NAME, "bin/node"));
      expect(existsSync(join(checkout.folder, "ran"))).toBe(true);
    });

    it("is refused and never run when the registry sends another, even with a matching hash", async () => {
      const published = integrityOf(pack("as published"));
      const { failure } = await install(published, await serve(pack("with something added")));
      expect(failure).toContain("is not the one this version of Muster expects");
      expect(existsSync(join(checkout.folder, "ran"))).toBe(false);
      expect(existsSync(join(checkout.folder, ".node/node_modules"))).toBe(false);
      expect(existsSync(join(checkout.folder, ".node/ready"))).toBe(false);
    });
  },
);

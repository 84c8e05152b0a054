/** A copy of the bootstrap in its own folder, with fake system programs. */
import { execFile } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, mkdtempSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const SCRIPTS = join(import.meta.dirname, "../../scripts/bootstrap");

export interface Checkout {
  folder: string;
  /** The only folder on the PATH of the programs that run here. */
  bin: string;
  /** Puts a shell script on the PATH. */
  program(name: string, script: string): void;
  /**
   * Runs a module and resolves with its `result` and with `progress`, the messages that a person
   * would see.
   */
  run(
    source: string,
    env?: Record<string, string>,
  ): Promise<{ result: unknown; told: string; failure: string | null }>;
}

export function makeCheckout(): Checkout {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "muster-bootstrap-")));
  const bin = join(folder, "bin");
  mkdirSync(bin);
  cpSync(SCRIPTS, join(folder, "scripts/bootstrap"), { recursive: true });
  return {
    folder,
    bin,
    program(name, script) {
      writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`);
      chmodSync(join(bin, name), 0o755);
    },
    async run(source, env = {}) {
      const file = join(folder, "driver.mjs");
      writeFileSync(file, DRIVER + source + REPORT);
      const { stdout } = await promisify(execFile)(process.execPath, [file], {
        cwd: folder,
        env: { HOME: folder, PATH: bin, ...env },
      });
      return JSON.parse(stdout) as { result: unknown; told: string; failure: string | null };
    },
  };
}

const DRIVER = `
let told = "";
const progress = {
  say: (text) => { told += text + "\\n"; },
  step: async (what, work) => { told += what + "\\n"; return work(); },
};
let result, failure = null;
try {
`;
const REPORT = `
} catch (error) { failure = error.message; }
console.log(JSON.stringify({ result, told, failure }));
`;

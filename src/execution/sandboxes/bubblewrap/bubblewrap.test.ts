import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe } from "vitest";
import { bubblewrapFile } from "#test/services/bubblewrap.ts";
import { testSandbox } from "../sandbox.contract.ts";
import { createBubblewrap } from "./bubblewrap.ts";

const folder = mkdtempSync(join(tmpdir(), "muster-bubblewrap-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe.skipIf(!bubblewrapFile)("bubblewrap", () => {
  const options = { folder, path: "", ...(bubblewrapFile && { bwrapFile: bubblewrapFile }) };
  testSandbox({ name: "bubblewrap", create: () => createBubblewrap(options) });
  testSandbox({
    name: "bubblewrap without control groups",
    create: () => createBubblewrap({ ...options, controlGroups: null }),
    skip:
      process.getuid?.() === 0
        ? [
            {
              reason: "the kernel holds root to no limit of its own, and a look may come late",
              tests: ["survives a fork bomb"],
            },
          ]
        : [],
  });
});

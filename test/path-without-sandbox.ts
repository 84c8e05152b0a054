/** A PATH with all programs of the system except bubblewrap, as on a machine without it. */
import { existsSync, mkdtempSync, readdirSync, realpathSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export function makePathWithoutSandbox(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "muster-path-")));
  for (const from of new Set(["/usr/bin", "/bin"].map((path) => realpathSync(path)))) {
    for (const name of readdirSync(from))
      if (name !== "bwrap") symlinkSync(join(from, name), join(folder, name));
  }
  if (!existsSync(join(folder, "apt-get"))) symlinkSync("/bin/false", join(folder, "apt-get"));
  return folder;
}

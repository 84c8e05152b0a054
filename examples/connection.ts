/** Address of the server and a key for it: from the environment, else those of this machine. */
import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

export function connection(): { url: string; key: string } {
  const { MUSTER_SERVER, MUSTER_API_KEY, MUSTER_HOME = join(homedir(), ".muster") } = process.env;
  return {
    url: MUSTER_SERVER ?? "http://127.0.0.1:4747",
    key: MUSTER_API_KEY ?? readFileSync(join(MUSTER_HOME, "owner.key"), "utf8").trim(),
  };
}

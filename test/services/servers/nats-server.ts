import { once } from "node:events";
import { connect } from "node:net";
import type { Cleanup } from "./cleanup.ts";
import { getProgram } from "./find-program.ts";
import { findFreePort } from "./free-port.ts";
import { waitUntil } from "./wait-until.ts";

const START_WITHIN_MS = 10_000;

export async function startNatsServer(cleanup: Cleanup): Promise<{ url: string }> {
  const program = getProgram({
    name: "nats-server",
    debianPackage: "nats-server",
    folders: () => ["/usr/sbin", "/usr/local/bin"],
  });
  const port = await findFreePort();
  cleanup.spawn(program, ["--addr", "127.0.0.1", "--port", String(port)], { stdio: "ignore" });
  await waitUntil(() => answers(port), START_WITHIN_MS);
  return { url: `nats://127.0.0.1:${port}` };
}

async function answers(port: number): Promise<void> {
  const socket = connect(port, "127.0.0.1");
  try {
    await once(socket, "connect");
  } finally {
    socket.destroy();
  }
}

/** Names and servers that a sandbox's proxy takes for the internet. */
import { connect, createServer, type Server, type Socket } from "node:net";

export const PUBLIC_ANSWER = "the public server answers";
const PUBLIC = "93.184.216.34";

/** Addresses by name; in a list of lists, one list for each successive lookup. */
const NAMES: Readonly<Record<string, string[][]>> = {
  "allowed.test": [[PUBLIC]],
  "fine.wild.test": [[PUBLIC]],
  "inside.wild.test": [["127.0.0.1"]],
  "metadata.wild.test": [["169.254.169.254"]],
  "mapped.wild.test": [["::ffff:127.0.0.1"]],
  "mixed.wild.test": [[PUBLIC, "10.0.0.1"]],
  "flips.wild.test": [[PUBLIC], ["127.0.0.1"]],
  // Addresses in spellings that a resolver understands.
  "2130706433": [["127.0.0.1"]],
  "0x7f000001": [["127.0.0.1"]],
  "0177.0.0.1": [["127.0.0.1"]],
  "127.1": [["127.0.0.1"]],
};

export function fakeResolver() {
  const asked = new Map<string, number>();
  return async (name: string) => {
    const answers = NAMES[name] ?? [[name]];
    const time = asked.get(name) ?? 0;
    asked.set(name, time + 1);
    const addresses = answers[Math.min(time, answers.length - 1)] ?? [];
    return addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
  };
}

/** The server behind the one public address; it answers with the requested host. */
export function createPublicServer(): Server {
  return createServer((socket) => {
    socket.on("error", () => undefined);
    socket.once("data", (head) => {
      const host = /^host: *(.*)$/im.exec(head.toString())?.[1]?.trim();
      const body = `${PUBLIC_ANSWER} host=${host}\n`;
      socket.end(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
    });
  });
}

/** Any other address leads to the canary. */
export function dialFor(canaryPort: number, publicPort: number) {
  return ({ address }: { address: string }): Socket =>
    connect(address === PUBLIC ? publicPort : canaryPort, "127.0.0.1");
}

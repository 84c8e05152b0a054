import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { limitUnfinished } from "./unfinished.ts";

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

async function serve(most: number) {
  const server = createServer((_request, response) => response.end("hello"));
  limitUnfinished(server, most);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  ends.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const open = async (): Promise<Socket> => {
    const accepted = once(server, "connection");
    const socket = connect(port, "127.0.0.1");
    socket.on("error", () => {});
    ends.push(() => socket.destroy());
    await once(socket, "connect");
    await accepted;
    return socket;
  };
  return { open, url: `http://127.0.0.1:${port}/` };
}

describe("connections that have said nothing", () => {
  it("are cut, the oldest first, when one address has too many", async () => {
    const { open } = await serve(3);
    const sockets: Socket[] = [];
    for (let at = 0; at < 5; at++) sockets.push(await open());
    await expect
      .poll(() => sockets.map(({ closed }) => closed))
      .toEqual([true, true, false, false, false]);
  });

  it("are cut, with more room, when they were answered once and say nothing more", async () => {
    const { open } = await serve(2);
    const sockets: Socket[] = [];
    for (let at = 0; at < 11; at++) {
      const socket = await open();
      sockets.push(socket);
      socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
      await once(socket, "data");
    }
    await expect.poll(() => sockets.filter(({ closed }) => closed).length).toBe(3);
    expect(sockets.slice(3).some(({ closed }) => closed)).toBe(false);
  });

  it("leave room for those who speak, and do not cut who has spoken", async () => {
    const { open, url } = await serve(3);
    const speaker = await open();
    speaker.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    const [answer] = await once(speaker, "data");
    expect(String(answer)).toContain("hello");
    for (let at = 0; at < 10; at++) await open();
    expect(await (await fetch(url)).text()).toBe("hello");
    speaker.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    const [again] = await once(speaker, "data");
    expect(String(again)).toContain("hello");
  });
});

/**
 * A cable between a runner and its server that can be unplugged: meanwhile nothing passes and
 * nothing is closed, so neither end knows. A small TCP proxy on loopback.
 */
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

interface Connection {
  near: Socket;
  far: Socket;
  /** Ends that closed while the cable was out; the other end is closed when it is back. */
  closed: Set<Socket>;
}

export class Cable {
  readonly #connections = new Set<Connection>();
  readonly #server = createServer((socket) => this.#open(socket));
  readonly #serverPort: number;
  #isOut = false;

  private constructor(serverPort: number) {
    this.#serverPort = serverPort;
  }

  static async lay(serverUrl: string): Promise<Cable> {
    const cable = new Cable(Number(new URL(serverUrl).port));
    await new Promise<void>((resolve) => cable.#server.listen(0, "127.0.0.1", resolve));
    return cable;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  pullOut(): void {
    this.#isOut = true;
    for (const { near, far } of this.#connections) {
      near.pause();
      far.pause();
    }
  }

  /** Data in transit arrives now, if both ends still wait for it. */
  plugIn(): void {
    this.#isOut = false;
    for (const connection of this.#connections) {
      const { near, far, closed } = connection;
      if (closed.size > 0) this.#end(connection);
      near.resume();
      far.resume();
    }
  }

  /** Breaks every connection; both ends notice and may reconnect. */
  cut(): void {
    for (const connection of this.#connections) this.#end(connection);
  }

  close(): void {
    this.cut();
    this.#server.close();
  }

  get #port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  #open(near: Socket): void {
    const far = connect(this.#serverPort, "127.0.0.1");
    const connection: Connection = { near, far, closed: new Set() };
    this.#connections.add(connection);
    // The server checks the host name of the request.
    const rename = (chunk: Buffer): Buffer => {
      const text = chunk.toString("latin1");
      const asked = `127.0.0.1:${this.#port}`;
      return text.includes(asked)
        ? Buffer.from(text.replaceAll(asked, `127.0.0.1:${this.#serverPort}`), "latin1")
        : chunk;
    };
    near.on("data", (chunk) => far.write(rename(chunk)));
    far.on("data", (chunk) => near.write(chunk));
    for (const socket of [near, far]) {
      socket.setNoDelay(true);
      socket.on("error", () => {});
      socket.on("close", () => {
        connection.closed.add(socket);
        if (!this.#isOut) this.#end(connection);
      });
    }
    if (!this.#isOut) return;
    near.pause();
    far.pause();
  }

  #end(connection: Connection): void {
    this.#connections.delete(connection);
    connection.near.destroy();
    connection.far.destroy();
  }
}

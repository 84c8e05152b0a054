/** A proxy in front of PostgreSQL that can break the connection at the worst moment: at COMMIT. */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

/**
 * `before`: PostgreSQL never gets the COMMIT. `after`: it commits, and the client never gets the
 * answer. `late`: PostgreSQL gets the COMMIT after the client has lost its connection.
 */
export type BreakAt = "before" | "after" | "late";

const COMMIT = Buffer.from("commit\0");
const COMMITTED = Buffer.from("COMMIT\0");

export class CommitProxy {
  readonly url: string;
  readonly #server: Server;
  readonly #target: URL;
  readonly #lateMs: number;
  #armed: { at: BreakAt; broken: () => void } | undefined;

  private constructor(server: Server, target: URL, lateMs: number) {
    const { port } = server.address() as AddressInfo;
    const url = new URL(target);
    url.port = String(port);
    this.url = url.href;
    this.#server = server;
    this.#target = target;
    this.#lateMs = lateMs;
    server.on("connection", (client) => this.#carry(client));
  }

  static async listen(targetUrl: string, lateMs: number): Promise<CommitProxy> {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    return new CommitProxy(server, new URL(targetUrl), lateMs);
  }

  /** Breaks the connection at the next COMMIT; resolves when it is broken. */
  breakNext(at: BreakAt): Promise<void> {
    return new Promise((broken) => {
      this.#armed = { at, broken };
    });
  }

  close(): void {
    this.#server.close();
  }

  #carry(client: Socket): void {
    const server = connect(Number(this.#target.port), this.#target.hostname);
    const end = () => {
      client.destroy();
      server.destroy();
    };
    let onAnswer: (() => void) | undefined;
    for (const socket of [client, server]) socket.on("error", end);
    server.on("close", () => client.destroy());
    client.on("close", () => {
      if (!onAnswer) server.destroy();
    });
    server.on("data", (bytes) => {
      if (!onAnswer) client.write(bytes);
      else if (bytes.includes(COMMITTED)) onAnswer();
    });
    client.on("data", (bytes) => {
      const armed = this.#armed;
      if (!armed || !bytes.includes(COMMIT)) {
        server.write(bytes);
        return;
      }
      this.#armed = undefined;
      const broken = () => {
        end();
        armed.broken();
      };
      if (armed.at === "before") return broken();
      onAnswer = broken;
      if (armed.at === "after") server.write(bytes);
      else this.#deliverLate(client, server, bytes, armed.broken);
    });
  }

  #deliverLate(client: Socket, server: Socket, bytes: Buffer, broken: () => void): void {
    client.destroy();
    broken();
    setTimeout(() => server.write(bytes), this.#lateMs);
  }
}

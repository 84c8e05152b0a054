/** The client's side of a request: answers get lost, servers die, and the client asks again. */
import { Refusal } from "#base/refusal.ts";
import type { Kernel } from "#engine/index.ts";
import type { World } from "../world.ts";

const MAX_TRIES = 6;

export interface Request<T> {
  name: string;
  call(kernel: Kernel): Promise<T>;
  done?(answer: T): void;
  refused?(code: string): void;
}

export class Requests {
  /** Requests that are neither answered nor given up. */
  open = 0;
  answered = 0;
  refused = 0;
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
  }

  send<T>(request: Request<T>): void {
    this.open += 1;
    this.#world.note(`ask ${request.name}`);
    this.#try(request, 1);
  }

  #try<T>(request: Request<T>, tries: number): void {
    const { server, random, odds, scheduler } = this.#world;
    if (!server.isUp) {
      this.#again(request, tries);
      return;
    }
    let isOpen = true;
    const close = () => {
      const wasOpen = isOpen;
      isOpen = false;
      server.waiting.delete(giveUp);
      return wasOpen;
    };
    const giveUp = () => {
      if (close()) this.#again(request, tries);
    };
    server.waiting.add(giveUp);
    request.call(server.kernel).then(
      (answer) => {
        if (!close()) return;
        if (!this.#world.calm && random.chance(odds.lostAnswers))
          return this.#again(request, tries);
        this.open -= 1;
        this.answered += 1;
        this.#world.note(`  answered: ${request.name}`);
        void this.#world.oracle.guard(() => request.done?.(answer));
      },
      (error: unknown) => {
        if (!close()) return;
        if (!(error instanceof Refusal)) {
          return scheduler.fail(
            new Error(`${request.name} failed: ${text(error)}`, { cause: error }),
          );
        }
        if (error.kind === "unavailable") return this.#again(request, tries);
        this.open -= 1;
        this.refused += 1;
        this.#world.note(`  refused: ${request.name}: ${error.code}`);
        void this.#world.oracle.guard(() => request.refused?.(error.code));
      },
    );
  }

  #again<T>(request: Request<T>, tries: number): void {
    const { random, scheduler, calm } = this.#world;
    if (tries >= MAX_TRIES && !calm) {
      this.open -= 1;
      return;
    }
    scheduler.after(random.between(20, 3_000), () => this.#try(request, tries + 1));
  }
}

function text(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

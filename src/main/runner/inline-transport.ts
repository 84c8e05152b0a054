/**
 * Server and runner in one process: frames are passed without a wire. Text of agents and tools is cleaned as
 * on a wire, because no database stores all of it.
 */
import type { Log } from "#base/log.ts";
import { cleanValue } from "#base/text/clean-text.ts";
import type { Principal } from "#engine/index.ts";
import type { Dispatcher } from "#engine/runs/index.ts";
import type { Transport } from "#execution/runner/connection/transport.ts";
import type { RunnerFrame } from "#protocol/frames.ts";

export function createInlineTransport(
  dispatcher: Dispatcher,
  principal: Extract<Principal, { kind: "runner" }>,
  log: Log,
): Transport {
  return {
    async open(events) {
      let open = true;
      const close = (reason: string) => {
        if (!open) return;
        open = false;
        dispatcher
          .disconnect(connection)
          .catch((error: unknown) => log.warn({ err: error }, "could not mark a runner offline"));
        events.closed(reason);
      };
      const connection = dispatcher.connect(principal, {
        send: (frame) => {
          if (open) events.frame(frame);
        },
        close,
        isAlive: async () => open,
      });
      return {
        congested: false,
        send(frame) {
          connection.receive(cleanValue(frame) as RunnerFrame).catch((error: unknown) => {
            log.error({ err: error, op: frame.op }, "a runner frame failed");
            close("try again");
          });
        },
        close: () => close("closed"),
      };
    },
  };
}

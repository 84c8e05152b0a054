import type { ReachedProvider } from "./find-provider.ts";
import type { ModelRoute } from "./meter/format.ts";
import { type Metered, UsageMeter, unanswered } from "./meter/usage-meter.ts";
import type { GatewayParts, OpenedCall } from "./open-call.ts";
import { settleCall } from "./settle-call.ts";

export interface PassageOptions {
  parts: GatewayParts;
  call: OpenedCall;
  provider: ReachedProvider;
  route: ModelRoute;
  body: Buffer;
  /** Called once, when the request has ended. */
  over(): void;
}

/** An admitted request. The first of its end functions to be called counts. */
export function createPassage({ parts, call, provider, route, body, over }: PassageOptions) {
  const { clock } = parts.engine;
  const instant = clock.steady ?? clock.now;
  const startedAt = instant();
  let meter: UsageMeter | null = null;
  let isOver = false;
  const settle = async (metered: Metered | null) => {
    if (isOver) return;
    isOver = true;
    over();
    await settleCall(parts, call, { metered, durationMs: instant() - startedAt });
  };
  return {
    provider,
    body,
    meter(isEventStream: boolean) {
      meter = new UsageMeter({ route, isEventStream, requestBytes: call.requestBytes });
      return meter;
    },
    end: (isCut: boolean) => settle(meter ? meter.end(isCut) : unanswered(call.requestBytes)),
    fail: () => settle(null),
  };
}

/** Prompts that name no session, over HTTP. */
import { Refusal } from "#base/refusal.ts";
import { type Route, requireMay, serve } from "#engine/index.ts";
import { routingApi } from "./contract.ts";
import { routePrompt } from "./route-prompt.ts";

export const routingRoutes: readonly Route[] = [
  serve(routingApi.prompt, async ({ engine, principal, body, idempotency }) => {
    requireMay(principal, "session.prompt");
    if (principal.kind !== "user")
      throw new Refusal("forbidden", "forbidden", "Only a person may do this. Use a person's key.");
    const prompt = await routePrompt(engine, principal, body, idempotency);
    return { prompt, session: { id: prompt.sessionId } };
  }),
];

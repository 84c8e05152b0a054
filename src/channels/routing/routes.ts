/** The door for those who want to say something, whatever session it is for. */
import { Refusal } from "#base/refusal.ts";
import { defineRoute, type Route, requireMay } from "#engine/index.ts";
import { routedAnswerSchema, routedPromptSchema } from "./contract.ts";
import { routePrompt } from "./route-prompt.ts";

export const routingRoutes: readonly Route[] = [
  defineRoute({
    method: "post",
    path: "/api/prompt",
    summary: "Say something: to the session its place is bound to, else to your orchestrator",
    tag: "Prompts",
    body: routedPromptSchema,
    status: 202,
    response: routedAnswerSchema,
    takesIdempotencyKey: true,
    async handle({ engine, principal, body, idempotency }) {
      requireMay(principal, "session.prompt");
      if (principal.kind !== "user")
        throw new Refusal(
          "forbidden",
          "forbidden",
          "Only a person may do this. Use a person's key.",
        );
      const prompt = await routePrompt(engine, principal, body, idempotency);
      return { prompt, session: { id: prompt.sessionId } };
    },
  }),
];

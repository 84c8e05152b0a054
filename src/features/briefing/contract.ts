/** Persona of a session, on the wire. */
import * as z from "zod";
import { apiRoute } from "#protocol/api-route.ts";

export const briefingApi = {
  refreshPersona: apiRoute({
    method: "post",
    path: "/api/sessions/{id}/persona",
    summary: "Give the session the newest version of its persona, or another persona",
    tag: "Sessions",
    body: z.strictObject({
      /** Id or slug; left out: the session's present persona. */
      persona: z.string().min(1).max(200).optional(),
    }),
    response: z.object({ persona: z.string(), version: z.number().int() }),
  }),
};

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useRef } from "react";
import type { ApiRoutes, BodyOf } from "#client/index.ts";
import { api } from "#surfaces/web/kit/api/api-client.ts";
import { randomId } from "#surfaces/web/kit/text/random-id.ts";
import { shareSession } from "../list/use-session-lists.ts";

export type NewSession = BodyOf<ApiRoutes["sessions"]["create"]>;

export function useCreateSession(onCreated: () => void) {
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  // The same form sent again creates the same session; a changed form gets a new key.
  const sent = useRef({ body: "", key: "" });
  return useMutation({
    mutationFn: (body: NewSession) => {
      const text = JSON.stringify(body);
      if (sent.current.body !== text) sent.current = { body: text, key: randomId() };
      return api.sessions.create({ body }, { idempotencyKey: sent.current.key });
    },
    onSuccess: async ({ session }) => {
      sent.current = { body: "", key: "" };
      shareSession(queryClient, session);
      onCreated();
      await navigate({
        to: "/sessions/$sessionId",
        params: { sessionId: session.id },
        search: true,
      });
    },
  });
}

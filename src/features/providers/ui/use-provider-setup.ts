/**
 * Saves a provider and waits until its models can be used. The key is only passed on to the server: no
 * state and no query cache holds it.
 */
import { type QueryClient, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import type { Provider, ProviderChange } from "#features/providers/contract.ts";
import type { ModelCapability } from "#protocol/models.ts";
import { api } from "#surfaces/web/kit/api/api-client.ts";
import { keys } from "#surfaces/web/kit/api/query-keys.ts";
import { judgeModels, type ModelJudgement } from "./judge-models.ts";

export type SetupPhase =
  | { at: "form" }
  | { at: "saving" }
  | { at: "waiting"; provider: Provider }
  | { at: "failed"; provider: Provider; why: string | null };

const POLL_MS = 400;

export function useProviderSetup(onReady: (models: ModelCapability[], saved: Provider) => void) {
  const queryClient = useQueryClient();
  const [phase, setPhase] = useState<SetupPhase>({ at: "form" });
  const [saved, setSaved] = useState<Provider>();
  const going = useRef<AbortController>(undefined);
  useEffect(() => () => going.current?.abort(), []);

  /** Throws the server's refusal. */
  const save = async (name: string, change: ProviderChange): Promise<void> => {
    going.current?.abort();
    const controller = new AbortController();
    going.current = controller;
    const { signal } = controller;
    setPhase({ at: "saving" });
    try {
      const before = (await api.runners.models()).items;
      const { provider } = await api.providers.set({ name, body: change });
      setSaved(provider);
      void queryClient.invalidateQueries({ queryKey: keys.providers });
      if (signal.aborted) return;
      setPhase({ at: "waiting", provider });
      const judged = await untilJudged(queryClient, name, before, signal);
      if (signal.aborted || judged.is === "waiting") return;
      if (judged.is === "ready") onReady(judged.models, provider);
      else setPhase({ at: "failed", provider, why: judged.why });
    } catch (error) {
      if (signal.aborted) return;
      setPhase({ at: "form" });
      throw error;
    }
  };
  /** `saved` is the server's current provider. */
  return { phase, saved, save, goBack: () => setPhase({ at: "form" }) };
}

async function untilJudged(
  queryClient: QueryClient,
  name: string,
  before: readonly ModelCapability[],
  signal: AbortSignal,
): Promise<ModelJudgement> {
  const since = performance.now();
  for (;;) {
    const { items } = await api.runners.models();
    queryClient.setQueryData(keys.models, { items });
    const look = { before, now: items, elapsedMs: performance.now() - since };
    const judged = judgeModels(name, look);
    if (judged.is !== "waiting" || signal.aborted) return judged;
    await new Promise((resume) => window.setTimeout(resume, POLL_MS));
  }
}

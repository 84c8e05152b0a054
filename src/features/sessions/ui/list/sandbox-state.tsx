import { useQuery, useQueryClient } from "@tanstack/react-query";
import { ShieldOff } from "lucide-react";
import { useEffect } from "react";
import { isUnsandboxed } from "#protocol/reports/sandboxes.ts";
import type { Runner } from "#protocol/runs.ts";
import { api } from "#surfaces/web/kit/api/api-client.ts";
import { keys } from "#surfaces/web/kit/api/query-keys.ts";
import { useLive } from "#surfaces/web/kit/live/live-context.tsx";

const NO_SANDBOX = "No sandbox: agents' commands run on this machine with your permissions.";

export function useRunners(): Runner[] {
  const found = useQuery({
    queryKey: keys.runners,
    queryFn: () => api.runners.list(),
    staleTime: 60_000,
    retry: false,
  });
  return (found.data?.items ?? []).filter(({ state }) => state !== "offline");
}

/** Refreshes the machines whenever one of them changes. */
export function useRunnerChanges(): void {
  const live = useLive();
  const queryClient = useQueryClient();
  useEffect(() => {
    const refresh = () => void queryClient.invalidateQueries({ queryKey: keys.runners });
    return live.subscribe("runners", { onHint: refresh });
  }, [live, queryClient]);
}

interface MarkProps {
  /** Machine to check; null for any. */
  hostname?: string | null;
  /** True for narrow places: the text is for screen readers only. */
  isShort?: boolean;
}

/** Shown wherever a machine works without a sandbox by explicit consent. */
export function NoSandboxMark({ hostname = null, isShort = false }: MarkProps) {
  const isOpen = useRunners().some(
    (runner) =>
      isUnsandboxed(runner.sandbox) && (hostname === null || hostname === runner.hostname),
  );
  if (!isOpen) return null;
  return (
    <span
      title={NO_SANDBOX}
      className="inline-flex shrink-0 items-center gap-1 rounded-full bg-warn-soft px-1.5 text-2xs font-medium text-warn"
    >
      <ShieldOff size={11} aria-hidden />
      <span className={isShort ? "sr-only" : undefined}>without a sandbox</span>
    </span>
  );
}

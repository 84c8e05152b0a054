import { useQuery } from "@tanstack/react-query";
import { ShieldOff, TriangleAlert } from "lucide-react";
import type { Runner } from "#protocol/runs.ts";
import { api } from "#surfaces/web/kit/api.ts";
import { keys } from "#surfaces/web/kit/query-keys.ts";

const NO_SANDBOX = "No sandbox: agents' commands run on this machine with your own rights.";

export function useRunners(): Runner[] {
  const found = useQuery({
    queryKey: keys.runners,
    queryFn: api.listRunners,
    staleTime: 60_000,
    retry: false,
  });
  return (found.data?.items ?? []).filter(({ state }) => state !== "offline");
}

/** What is missing for a sandbox, on which machine, and what to do; nothing while all is well. */
export function SandboxWarning() {
  const lacking = useRunners().filter(({ sandbox }) => sandbox !== null && sandbox.why !== null);
  if (lacking.length === 0) return null;
  return (
    <div role="alert" className="flex gap-2.5 rounded-xl bg-warn-soft px-3.5 py-3 text-[0.8125rem]">
      <TriangleAlert size={16} aria-hidden className="mt-0.5 shrink-0 text-warn" />
      <div className="min-w-0 space-y-1">
        <p className="font-medium text-warn">
          {lacking.some(({ sandbox }) => sandbox?.kind === "local")
            ? "Agents work without a sandbox"
            : "Agents cannot use their tools yet"}
        </p>
        {lacking.map(({ id, name, sandbox }) => (
          <p key={id} className="break-words text-ink-soft">
            <span className="font-medium text-ink">{name}:</span> {sandbox?.why}
          </p>
        ))}
      </div>
    </div>
  );
}

/** Stands wherever a machine works without a sandbox, by somebody's explicit wish. */
export function NoSandboxMark({ hostname = null }: { hostname?: string | null }) {
  const isOpen = useRunners().some(
    (runner) =>
      runner.sandbox?.kind === "local" && (hostname === null || hostname === runner.hostname),
  );
  if (!isOpen) return null;
  return (
    <span
      title={NO_SANDBOX}
      className="inline-flex shrink-0 items-center gap-1 rounded-full bg-warn-soft px-1.5 text-2xs font-medium text-warn"
    >
      <ShieldOff size={11} aria-hidden />
      no sandbox
    </span>
  );
}

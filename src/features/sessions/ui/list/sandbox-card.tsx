import { Check, Copy, RotateCw, ShieldOff } from "lucide-react";
import { useEffect, useId, useState } from "react";
import { isIsolated, isUnsandboxed, SANDBOX_FIXES } from "#protocol/reports/sandboxes.ts";
import type { Runner } from "#protocol/runs.ts";
import { api, messageOf } from "#surfaces/web/kit/api/api-client.ts";
import { keys } from "#surfaces/web/kit/api/query-keys.ts";
import { Button } from "#surfaces/web/kit/button.tsx";
import { InlineError } from "#surfaces/web/kit/field.tsx";
import { useIsAdmin, useMe } from "#surfaces/web/kit/hooks/use-me.ts";
import { useChange } from "#surfaces/web/kit/settings/use-change.ts";
import { useRunners } from "./sandbox-state.tsx";

const RISK =
  "Commands then run with all permissions of the user who started Muster on that machine: they can read and change that user's files and use the network. Muster asks you before each command unless a rule allows it. You can undo this at any time.";
/** Timeout of a sandbox check, which takes milliseconds on a machine that answers. */
const CHECK_TIMEOUT_MS = 8_000;

/** Card about machines without a sandbox: what is missing, what to do, and which work without one. */
export function SandboxCard() {
  const me = useMe();
  const isAdmin = useIsAdmin();
  const mine = useRunners().filter(({ ownerId }) => ownerId === null || ownerId === me?.user.id);
  const lacking = mine.find(({ sandbox }) => !isIsolated(sandbox) && !isUnsandboxed(sandbox));
  const open = mine.find(({ sandbox, unsandboxed }) => isUnsandboxed(sandbox) && unsandboxed);
  const mayChange = (runner: Runner) => isAdmin || runner.ownerId === me?.user.id;
  // Both cards are shown: a machine that lacks a sandbox must not hide one that may work without.
  return (
    <>
      {lacking && (
        <MissingSandbox key={lacking.id} runner={lacking} mayConsent={mayChange(lacking)} />
      )}
      {open && <WorksWithoutSandbox key={open.id} runner={open} mayRevoke={mayChange(open)} />}
    </>
  );
}

function MissingSandbox({ runner, mayConsent }: { runner: Runner; mayConsent: boolean }) {
  const titleId = useId();
  const [isHidden, setIsHidden] = useState(false);
  const consent = useChange(() => api.runners.allowUnsandboxed({ id: runner.id }), {
    stale: keys.runners,
    done: () => "Agents can now work without a sandbox",
  });
  const fix = runner.sandbox?.fix ?? null;
  return (
    <section
      aria-labelledby={titleId}
      data-testid="sandbox-card"
      className="max-h-[70dvh] shrink-0 overflow-y-auto border-b border-warn/40 bg-warn-soft px-4 py-3 text-[0.8125rem]"
    >
      <div className="mx-auto max-w-3xl space-y-2.5">
        <header className="flex items-start gap-2">
          <ShieldOff size={17} aria-hidden className="mt-0.5 shrink-0 text-warn" />
          <h2 id={titleId} className="min-w-0 flex-1 text-sm font-semibold break-words text-warn">
            Agents cannot run commands on {runner.name} yet
          </h2>
          <Button size="small" look="ghost" onClick={() => setIsHidden(!isHidden)}>
            {isHidden ? "Show steps" : "Hide"}
          </Button>
        </header>
        {!isHidden && (
          <>
            <p className="break-words">
              {runner.sandbox?.why ?? "It has not reported a sandbox yet."}
            </p>
            {fix !== null && <CommandToCopy command={SANDBOX_FIXES[fix]} />}
            <CheckAgain runner={runner} mayLook={mayConsent} />
            {mayConsent ? (
              <details className="rounded-lg border border-line bg-raised px-3 py-2">
                <summary className="cursor-pointer font-medium">
                  Or work without a sandbox on this machine
                </summary>
                <p className="mt-1.5 text-ink-soft">{RISK}</p>
                <Button
                  look="danger"
                  className="mt-2 max-sm:w-full"
                  disabled={consent.isPending}
                  onClick={() => consent.mutate(undefined)}
                >
                  Work without a sandbox
                </Button>
                {consent.isError && <InlineError>{messageOf(consent.error)}</InlineError>}
              </details>
            ) : (
              <p className="text-ink-soft">
                An admin can install a sandbox, or allow agents to work without one.
              </p>
            )}
          </>
        )}
      </div>
    </section>
  );
}

function CommandToCopy({ command }: { command: string }) {
  const [isCopied, setIsCopied] = useState(false);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(command);
      setIsCopied(true);
    } catch {
      // Browsers allow the clipboard on secure pages only; the text can be selected in any case.
    }
  };
  return (
    <div className="space-y-1">
      <p>Run this on that machine:</p>
      <div className="flex items-center gap-2 rounded-lg border border-line-strong bg-page py-1 pr-1 pl-3">
        <code className="min-w-0 flex-1 font-mono text-xs break-words select-all">{command}</code>
        <Button size="small" onClick={() => void copy()}>
          {isCopied ? <Check size={13} aria-hidden /> : <Copy size={13} aria-hidden />}
          {isCopied ? "Copied" : "Copy"}
        </Button>
      </div>
    </div>
  );
}

function CheckAgain({ runner, mayLook }: { runner: Runner; mayLook: boolean }) {
  const [lastCheckAt, setLastCheckAt] = useState<string | null>(null);
  const look = useChange(() => api.runners.lookForSandbox({ id: runner.id }), {
    stale: keys.runners,
  });
  const at = runner.sandbox?.at ?? "";
  const isLooking = lastCheckAt !== null && lastCheckAt === at;
  useEffect(() => {
    if (!isLooking) return;
    const timer = setTimeout(() => setLastCheckAt(""), CHECK_TIMEOUT_MS);
    return () => clearTimeout(timer);
  }, [isLooking]);
  if (!mayLook) return null;
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
      <Button
        disabled={isLooking || look.isPending}
        onClick={() => {
          setLastCheckAt(at);
          look.mutate(undefined);
        }}
      >
        <RotateCw size={14} aria-hidden />
        {isLooking ? "Checking…" : "Check again"}
      </Button>
      <p role="status" className="text-ink-soft">
        {lastCheckAt !== null && !isLooking
          ? "Still no sandbox."
          : "Muster also checks automatically and then resumes waiting work."}
      </p>
      {look.isError && <InlineError>{messageOf(look.error)}</InlineError>}
    </div>
  );
}

/** Shown on every page while agents work without a sandbox by somebody's consent. */
function WorksWithoutSandbox({ runner, mayRevoke }: { runner: Runner; mayRevoke: boolean }) {
  const revoke = useChange(() => api.runners.requireSandbox({ id: runner.id }), {
    stale: keys.runners,
    done: () => "Agents now need a sandbox",
    failed: "Couldn't require a sandbox",
  });
  return (
    <section
      aria-label="Work without a sandbox"
      data-testid="sandbox-card"
      className="flex shrink-0 flex-wrap items-center gap-x-3 gap-y-1 border-b border-warn/40 bg-warn-soft px-4 py-1.5 text-xs"
    >
      <p className="min-w-0 flex-1 basis-56 break-words text-warn">
        <ShieldOff size={13} aria-hidden className="mr-1.5 inline align-[-2px]" />
        Agents work on {runner.name} <strong>without a sandbox</strong>. Muster asks before each
        command unless a rule allows it.
      </p>
      {mayRevoke && (
        <Button size="small" disabled={revoke.isPending} onClick={() => revoke.mutate(undefined)}>
          Require a sandbox
        </Button>
      )}
    </section>
  );
}

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ChartNoAxesColumn, Cpu, LogOut, Plus, Settings, ShieldCheck } from "lucide-react";
import { useState } from "react";
import { NeedsYou } from "#features/approvals/ui/needs-you.tsx";
import type { Me } from "#features/auth/contract.ts";
import { keys } from "#surfaces/web/kit/api/query-keys.ts";
import { signOutHere } from "#surfaces/web/kit/api/sign-in.ts";
import { Button, IconButton } from "#surfaces/web/kit/button.tsx";
import { ConnectionMark } from "#surfaces/web/kit/connection-mark.tsx";
import { Modal } from "#surfaces/web/kit/dialog.tsx";
import { useShortcut } from "#surfaces/web/kit/hooks/use-shortcut.ts";
import { Logo } from "#surfaces/web/kit/logo.tsx";
import { useToasts } from "#surfaces/web/kit/toast.tsx";
import { NewSessionForm } from "../new/new-session-form.tsx";
import { PageLinks } from "./page-links.tsx";
import { NoSandboxMark } from "./sandbox-state.tsx";
import { SessionList } from "./session-list.tsx";

export function Sidebar({ me }: { me: Me }) {
  const [isCreating, setIsCreating] = useState(false);
  useShortcut("n", () => setIsCreating(true));
  return (
    <div className="flex h-full flex-col">
      <header className="flex h-14 shrink-0 items-center gap-2.5 pr-3 pl-4">
        <Logo />
        <span className="text-[0.9375rem] font-semibold tracking-tight">Muster</span>
        <ConnectionMark />
        <Button
          size="small"
          className="ml-auto"
          title="New session (N)"
          onClick={() => setIsCreating(true)}
        >
          <Plus size={15} aria-hidden />
          New session
        </Button>
      </header>
      <PageLinks />
      <NeedsYou />
      <SessionList onCreate={() => setIsCreating(true)} />
      <Account me={me} />
      <Modal title="New session" isOpen={isCreating} onClose={() => setIsCreating(false)}>
        <NewSessionForm onCreated={() => setIsCreating(false)} />
      </Modal>
    </div>
  );
}

const PAGE_LINK =
  "grid size-9 shrink-0 place-items-center rounded-lg text-ink-soft hover:bg-hover hover:text-ink data-[status=active]:bg-hover data-[status=active]:text-ink";

function Account({ me }: { me: Me }) {
  const queryClient = useQueryClient();
  const toasts = useToasts();
  const signOut = useMutation({
    mutationFn: signOutHere,
    onSuccess: () => {
      queryClient.clear();
      queryClient.setQueryData(keys.me, null);
      location.assign("/sign-in");
    },
    onError: (error) => toasts.fail("Couldn't sign out", error),
  });
  return (
    <footer className="flex shrink-0 items-center gap-2 border-t border-line py-1.5 pr-2 pl-4 pb-[max(0.375rem,env(safe-area-inset-bottom))] text-xs">
      <div className="min-w-0 flex-1">
        <p className="truncate font-medium">{me.user.name}</p>
        <p className="truncate text-ink-faint">{me.org.name}</p>
      </div>
      <NoSandboxMark isShort />
      <Link to="/models" search={true} aria-label="Models" title="Models" className={PAGE_LINK}>
        <Cpu size={17} aria-hidden />
      </Link>
      <Link to="/rules" search={true} aria-label="Rules" title="Rules" className={PAGE_LINK}>
        <ShieldCheck size={17} aria-hidden />
      </Link>
      <Link to="/usage" search={true} aria-label="Usage" title="Usage" className={PAGE_LINK}>
        <ChartNoAxesColumn size={17} aria-hidden />
      </Link>
      <Link
        to="/settings/orchestrator"
        search={true}
        aria-label="Settings"
        title="Settings"
        className={PAGE_LINK}
      >
        <Settings size={17} aria-hidden />
      </Link>
      <IconButton label="Sign out" disabled={signOut.isPending} onClick={() => signOut.mutate()}>
        <LogOut size={16} aria-hidden />
      </IconButton>
    </footer>
  );
}

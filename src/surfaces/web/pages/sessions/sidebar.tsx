import { useMutation, useQueryClient } from "@tanstack/react-query";
import { LogOut, Plus } from "lucide-react";
import { useState } from "react";
import { api, type Me } from "#surfaces/web/kit/api.ts";
import { Button, IconButton } from "#surfaces/web/kit/button.tsx";
import { ConnectionMark } from "#surfaces/web/kit/connection-mark.tsx";
import { Modal } from "#surfaces/web/kit/dialog.tsx";
import { Logo } from "#surfaces/web/kit/logo.tsx";
import { keys } from "#surfaces/web/kit/query-keys.ts";
import { useToasts } from "#surfaces/web/kit/toast.tsx";
import { useShortcut } from "#surfaces/web/kit/use-shortcut.ts";
import { NewSessionForm } from "./new-session-form.tsx";
import { SessionList } from "./session-list.tsx";
import { useMyChanges } from "./use-session-lists.ts";

export function Sidebar({ me }: { me: Me }) {
  const [isCreating, setIsCreating] = useState(false);
  useMyChanges();
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
      <SessionList onCreate={() => setIsCreating(true)} />
      <Account me={me} />
      <Modal title="New session" isOpen={isCreating} onClose={() => setIsCreating(false)}>
        <NewSessionForm onCreated={() => setIsCreating(false)} />
      </Modal>
    </div>
  );
}

function Account({ me }: { me: Me }) {
  const queryClient = useQueryClient();
  const toasts = useToasts();
  const signOut = useMutation({
    mutationFn: api.signOut,
    onSuccess: () => {
      queryClient.clear();
      queryClient.setQueryData(keys.me, null);
      location.assign("/sign-in");
    },
    onError: (error) => toasts.fail("You are still signed in", error),
  });
  return (
    <footer className="flex shrink-0 items-center gap-2 border-t border-line py-1.5 pr-2 pl-4 pb-[max(0.375rem,env(safe-area-inset-bottom))] text-xs">
      <div className="min-w-0 flex-1">
        <p className="truncate font-medium">{me.user.name}</p>
        <p className="truncate text-ink-faint">{me.org.name}</p>
      </div>
      <IconButton label="Sign out" disabled={signOut.isPending} onClick={() => signOut.mutate()}>
        <LogOut size={16} aria-hidden />
      </IconButton>
    </footer>
  );
}

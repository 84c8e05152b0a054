import { type QueryClient, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import type { Me } from "#features/auth/contract.ts";
import { keys } from "#surfaces/web/kit/api/query-keys.ts";
import {
  announceExpiry,
  forgetContent,
  onPersonChange,
  takeOver,
  takeSignedInHere,
} from "#surfaces/web/kit/api/tab-person.ts";
import { useConnection } from "#surfaces/web/kit/live/live-context.tsx";

/**
 * Clears what this tab holds when its person signs out anywhere or somebody else signs in. A sign-in
 * that expires hides it and keeps drafts and unsent prompts for the same person. Returns the person
 * who was shown before, when another tab has signed somebody else in since.
 */
export function useTabPerson(me: Me | null | undefined): Me | null {
  const queryClient = useQueryClient();
  const [shown, setShown] = useState<Me | null>(null);
  if (me && shown?.user.id !== me.user.id) {
    // Taken in any case: it says nothing about whoever comes after.
    const isByThisTab = takeSignedInHere();
    if (shown === null || isByThisTab) setShown(me);
  }
  const before = me && shown && shown.user.id !== me.user.id ? shown : null;
  const id = me?.user.id;
  const isSignedOut = me === null;
  useEffect(() => {
    if (id === undefined) return;
    takeOver(id);
    return onPersonChange((other) => {
      if (other === id) return;
      // It has expired for this tab too, which asks for itself.
      if (other === "") return void queryClient.invalidateQueries({ queryKey: keys.me });
      forgetContent(other ?? undefined);
      forgetAnswers(queryClient);
      if (other === null) queryClient.setQueryData(keys.me, null);
      else void queryClient.resetQueries({ queryKey: keys.me });
    });
  }, [id, queryClient]);
  useEffect(() => {
    if (!isSignedOut) return;
    forgetAnswers(queryClient);
    // A sign-out has cleared what was kept before this; all that is left is an expired sign-in.
    announceExpiry();
    // Another tab may sign in or out while this one waits.
    return onPersonChange((other) => {
      if (other === null) forgetContent();
      else if (other !== "") void queryClient.resetQueries({ queryKey: keys.me });
    });
  }, [isSignedOut, queryClient]);
  return before;
}

/** Answers that are nobody's: the page for signing in shows them. */
const PUBLIC: readonly unknown[] = [keys.me[0], keys.signInProviders[0]];

function forgetAnswers(queryClient: QueryClient): void {
  queryClient.removeQueries({ predicate: ({ queryKey }) => !PUBLIC.includes(queryKey[0]) });
}

/** The server ends the connection of whoever was signed out: then it is asked who this is. */
export function useSignOutElsewhere(): void {
  const queryClient = useQueryClient();
  const isCut = useConnection() === "reconnecting";
  useEffect(() => {
    if (isCut) void queryClient.invalidateQueries({ queryKey: keys.me });
  }, [isCut, queryClient]);
}

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
 * Clears this tab's content when its person signs out anywhere or somebody else signs in. An expired
 * sign-in hides the content and keeps drafts and unsent prompts for the same person. Returns the person
 * who was shown before, when another tab has signed somebody else in since.
 */
export function useTabPerson(me: Me | null | undefined): Me | null {
  const queryClient = useQueryClient();
  const [shown, setShown] = useState<Me | null>(null);
  if (me && shown?.user.id !== me.user.id) {
    // Reset in any case: the flag says nothing about the next person.
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
      // The sign-in has expired for this tab too, which asks for itself.
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
    // A sign-out has cleared everything before this point, so this is an expired sign-in.
    announceExpiry();
    // Another tab may sign in or out while this one waits.
    return onPersonChange((other) => {
      if (other === null) forgetContent();
      else if (other !== "") void queryClient.resetQueries({ queryKey: keys.me });
    });
  }, [isSignedOut, queryClient]);
  return before;
}

/** Queries that belong to no person: the sign-in page uses them. */
const PUBLIC: readonly unknown[] = [keys.me[0], keys.signInProviders[0]];

function forgetAnswers(queryClient: QueryClient): void {
  queryClient.removeQueries({ predicate: ({ queryKey }) => !PUBLIC.includes(queryKey[0]) });
}

/** Asks who is signed in when the server closes the connection, as it does after a sign-out. */
export function useSignOutElsewhere(): void {
  const queryClient = useQueryClient();
  const isCut = useConnection() === "reconnecting";
  useEffect(() => {
    if (isCut) void queryClient.invalidateQueries({ queryKey: keys.me });
  }, [isCut, queryClient]);
}

import { type QueryKey, useMutation, useQueryClient } from "@tanstack/react-query";
import { useToasts } from "#surfaces/web/kit/toast.tsx";

interface ChangeWords<T, R> {
  /** Read again afterwards, whatever came of it. */
  stale: QueryKey;
  /** Said when it is done; nothing when undefined. */
  done?: (input: T, result: R) => string | undefined;
  /** Said before the server's own words; undefined when they are shown in the page. */
  failed?: string;
  onDone?: (result: R) => void;
}

/** One change of a setting: says what came of it and lets the list be read again. */
export function useChange<T, R>(change: (input: T) => Promise<R>, words: ChangeWords<T, R>) {
  const queryClient = useQueryClient();
  const toasts = useToasts();
  return useMutation({
    mutationFn: change,
    // What was sent or answered may be a secret: it must not stay in the cache of calls.
    gcTime: 0,
    onSuccess: (result, input) => {
      const said = words.done?.(input, result);
      if (said) toasts.say(said);
      words.onDone?.(result);
    },
    onError: (error) => {
      if (words.failed) toasts.fail(words.failed, error);
    },
    onSettled: () => queryClient.invalidateQueries({ queryKey: words.stale }),
  });
}

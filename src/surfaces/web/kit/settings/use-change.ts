import { type QueryKey, useMutation, useQueryClient } from "@tanstack/react-query";
import { useToasts } from "#surfaces/web/kit/toast.tsx";

interface ChangeWords<T, R> {
  /** Query to refresh afterwards, whatever the result. */
  stale: QueryKey;
  /** Toast text after success; undefined for none. */
  done?: (input: T, result: R) => string | undefined;
  /** Toast title before the server's own text; left out when the page shows the error. */
  failed?: string;
  onDone?: (result: R) => void;
}

/** Changes a setting: reports the result and refreshes the list. */
export function useChange<T, R>(change: (input: T) => Promise<R>, words: ChangeWords<T, R>) {
  const queryClient = useQueryClient();
  const toasts = useToasts();
  return useMutation({
    mutationFn: change,
    // Requests and answers may hold a secret, which must not stay in the mutation cache.
    gcTime: 0,
    onSuccess: (result, input) => {
      const said = words.done?.(input, result);
      if (said) toasts.show(said);
      words.onDone?.(result);
    },
    onError: (error) => {
      if (words.failed) toasts.fail(words.failed, error);
    },
    onSettled: () => queryClient.invalidateQueries({ queryKey: words.stale }),
  });
}

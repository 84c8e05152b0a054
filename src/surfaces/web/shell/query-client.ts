import { MutationCache, QueryCache, QueryClient } from "@tanstack/react-query";
import { isUnauthenticated, isUncertain } from "#surfaces/web/kit/api/api-client.ts";
import { signInEnded } from "#surfaces/web/kit/api/sign-in-ended.ts";

/** Creates the query client. Any 401 goes to `signInEnded`, which leads to a sign-in. */
export function createQueryClient(): QueryClient {
  const noticeSignOut = (error: Error) => {
    if (isUnauthenticated(error)) signInEnded(client, error);
  };
  const client: QueryClient = new QueryClient({
    queryCache: new QueryCache({ onError: noticeSignOut }),
    mutationCache: new MutationCache({ onError: noticeSignOut }),
    defaultOptions: {
      queries: {
        staleTime: 10_000,
        retry: (failures, error) => isUncertain(error) && failures < 3,
        retryDelay: (failures) => Math.min(8_000, 500 * 2 ** failures),
      },
      mutations: { retry: false },
    },
  });
  return client;
}

import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import type { SignInOption } from "#features/auth/contract.ts";
import { api, messageOf } from "#surfaces/web/kit/api/api-client.ts";
import { keys } from "#surfaces/web/kit/api/query-keys.ts";
import { startUrl } from "#surfaces/web/kit/api/sign-in.ts";
import { Button } from "#surfaces/web/kit/button.tsx";
import { InlineError } from "#surfaces/web/kit/field.tsx";

/** Returns configured providers; empty while unknown, and when the server does not tell. */
export function useSignInProviders(): readonly SignInOption[] {
  const { data } = useQuery({
    queryKey: keys.signInProviders,
    queryFn: async ({ signal }) => (await api.auth.listProviders({}, { signal })).items,
    retry: false,
    staleTime: 60_000,
  });
  return data ?? [];
}

/** Links to each service, which lead back to the requested page. */
export function SignInLinks({ next }: { next: string }) {
  const { problem, leave } = useLeave();
  return (
    <Buttons problem={problem}>
      {(provider) => (
        <a
          key={provider.id}
          href={startUrl(provider.id, next)}
          onClick={(event) => {
            event.preventDefault();
            leave(() => api.auth.startSignIn({ provider: provider.id, body: { next } }));
          }}
          className="flex h-9 w-full items-center justify-center rounded-lg border border-line-strong bg-raised px-3 font-medium transition-colors hover:bg-hover"
        >
          Continue with {provider.name}
        </a>
      )}
    </Buttons>
  );
}

/** Joins with an account instead of a password. */
export function JoinButtons({ invitation }: { invitation: string }) {
  const { problem, isLeaving, leave } = useLeave();
  return (
    <Buttons problem={problem}>
      {({ id, name }) => (
        <Button
          key={id}
          className="w-full"
          disabled={isLeaving}
          onClick={() => leave(() => api.auth.startSignIn({ provider: id, body: { invitation } }))}
        >
          Join with {name}
        </Button>
      )}
    </Buttons>
  );
}

/** Navigates to the address that the server returns. */
function useLeave() {
  const [problem, setProblem] = useState<string | null>(null);
  const [isLeaving, setIsLeaving] = useState(false);
  const leave = (start: () => Promise<{ url: string }>) => {
    setIsLeaving(true);
    setProblem(null);
    start().then(
      ({ url }) => location.assign(url),
      (error: unknown) => {
        setProblem(messageOf(error));
        setIsLeaving(false);
      },
    );
  };
  return { problem, isLeaving, leave };
}

interface ButtonsProps {
  problem: string | null;
  children: (provider: SignInOption) => ReactNode;
}

function Buttons({ problem, children }: ButtonsProps) {
  const providers = useSignInProviders();
  if (providers.length === 0) return null;
  return (
    <section aria-label="Use another account" className="mt-6 space-y-2">
      {providers.map(children)}
      {problem && <InlineError>{problem}</InlineError>}
    </section>
  );
}

import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import type { OfferedProvider } from "#features/auth/contract.ts";
import { api, messageOf } from "#surfaces/web/kit/api/api-client.ts";
import { keys } from "#surfaces/web/kit/api/query-keys.ts";
import { startUrl } from "#surfaces/web/kit/api/sign-in.ts";
import { Button } from "#surfaces/web/kit/button.tsx";
import { InlineError } from "#surfaces/web/kit/field.tsx";

/** Those that are set up; none while it is not known, and none when the server does not say. */
export function useSignInProviders(): readonly OfferedProvider[] {
  const { data } = useQuery({
    queryKey: keys.signInProviders,
    queryFn: async ({ signal }) => (await api.auth.listProviders({}, { signal })).items,
    retry: false,
    staleTime: 60_000,
  });
  return data ?? [];
}

/** Leads to each service, and back to the page that somebody wanted to see. */
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

/** To join with an account in the place of a password. */
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

/** Goes to the address that the server gives for it. */
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
  children: (provider: OfferedProvider) => ReactNode;
}

function Buttons({ problem, children }: ButtonsProps) {
  const providers = useSignInProviders();
  if (providers.length === 0) return null;
  return (
    <section aria-label="With another account" className="mt-6 space-y-2">
      {providers.map(children)}
      {problem && <InlineError>{problem}</InlineError>}
    </section>
  );
}

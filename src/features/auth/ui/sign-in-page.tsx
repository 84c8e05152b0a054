import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { api, messageOf } from "#surfaces/web/kit/api/api-client.ts";
import { keys } from "#surfaces/web/kit/api/query-keys.ts";
import { problemIn, signInWith } from "#surfaces/web/kit/api/sign-in.ts";
import { LinkConsent } from "./link-consent.tsx";
import { mustAsk } from "./must-ask.ts";
import { tokenInFragment } from "./read-secret.ts";
import { SignedOut } from "./signed-out.tsx";

/**
 * Target of the printed link, and of a failed sign-in by a provider. The token is removed from the
 * address before anything else. A link signs in at once only where nobody could have sent it to deceive;
 * otherwise the person sees whose it is, and decides.
 */
export function SignInPage() {
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const wasUsed = useRef(false);
  const [problemInAddress] = useState(() => problemIn(location.search));
  const [token] = useState(() => tokenInFragment(location.hash));
  useEffect(() => {
    if (location.hash !== "" || location.search !== "")
      history.replaceState(history.state, "", location.pathname);
  }, []);
  const link = useQuery({
    queryKey: keys.signInLink,
    queryFn: ({ signal }) => api.auth.inspectLink({ body: { token: token ?? "" } }, { signal }),
    enabled: token !== undefined,
    retry: false,
    gcTime: 0,
  });
  const signIn = useMutation({
    mutationFn: () => signInWith({ token: token ?? "" }),
    onSuccess: async () => {
      queryClient.clear();
      await navigate({ to: "/", replace: true });
    },
  });
  const { mutate } = signIn;
  const needsNoConsent = link.data !== undefined && !mustAsk(link.data);
  useEffect(() => {
    if (!needsNoConsent || wasUsed.current) return;
    wasUsed.current = true;
    mutate();
  }, [needsNoConsent, mutate]);

  const error = signIn.error ?? link.error;
  if (error) return <SignedOut problem={messageOf(error)} />;
  if (token === undefined) return <SignedOut problem={problemInAddress} />;
  if (link.data && !needsNoConsent && !signIn.isPending)
    return (
      <LinkConsent
        link={link.data}
        onSignIn={() => mutate()}
        onLeave={() => void navigate({ to: "/", replace: true })}
      />
    );
  return (
    <p role="status" className="grid h-full place-items-center text-ink-soft">
      Signing in…
    </p>
  );
}

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { api } from "#surfaces/web/kit/api.ts";
import { messageOf } from "#surfaces/web/kit/api-client.ts";
import { keys } from "#surfaces/web/kit/query-keys.ts";
import { problemIn } from "#surfaces/web/kit/sign-in-api.ts";
import { tokenInFragment } from "./read-secret.ts";
import { SignedOut } from "./signed-out.tsx";

/**
 * Where the printed link leads, and where a sign-in by others ends that did not work. What the
 * address says is taken out of it before anything else.
 */
export function SignInPage() {
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const wasRead = useRef(false);
  const [landedWith] = useState(() => problemIn(location.search));
  const signIn = useMutation({
    mutationFn: (token: string) => api.signIn({ token }),
    onSuccess: async () => {
      queryClient.removeQueries({ queryKey: keys.me });
      await navigate({ to: "/", replace: true });
    },
  });
  const { mutate } = signIn;
  useEffect(() => {
    if (wasRead.current) return;
    wasRead.current = true;
    const token = tokenInFragment(location.hash);
    if (token !== undefined || location.search !== "")
      history.replaceState(history.state, "", location.pathname);
    if (token !== undefined) mutate(token);
  }, [mutate]);

  if (signIn.isPending) {
    return (
      <p role="status" className="grid h-full place-items-center text-ink-soft">
        Signing in…
      </p>
    );
  }
  return <SignedOut problem={signIn.isError ? messageOf(signIn.error) : landedWith} />;
}

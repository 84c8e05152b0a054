import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useRouterState } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import type { SignInRequest } from "#features/auth/contract.ts";
import { messageOf } from "#surfaces/web/kit/api/api-client.ts";
import { keys } from "#surfaces/web/kit/api/query-keys.ts";
import { signInWith } from "#surfaces/web/kit/api/sign-in.ts";
import { Button } from "#surfaces/web/kit/button.tsx";
import { InlineError, TextField } from "#surfaces/web/kit/field.tsx";
import { focusOnMount } from "#surfaces/web/kit/hooks/focus-on-mount.ts";
import { Logo } from "#surfaces/web/kit/logo.tsx";
import { PasswordForm } from "./password-form.tsx";
import { SignInLinks } from "./provider-buttons.tsx";
import { readSecret } from "./read-secret.ts";

/** Explains how to sign in, with a field for a link or a key. */
export function SignedOut({ problem = null }: { problem?: string | null }) {
  const [pasted, setPasted] = useState("");
  const [inputProblem, setInputProblem] = useState<string | null>(null);
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const isSignInPage = useRouterState({
    select: (state) => state.location.pathname === "/sign-in",
  });
  const signIn = useMutation({
    mutationFn: (secret: SignInRequest) => signInWith(secret),
    gcTime: 0,
    onSuccess: async () => {
      await queryClient.resetQueries({ queryKey: keys.me });
      if (isSignInPage) await navigate({ to: "/", replace: true });
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const secret = readSecret(pasted);
    setInputProblem(secret ? null : "This is not a sign-in link (with #token=…) or an API key.");
    if (secret) signIn.mutate(secret);
  };
  const error =
    inputProblem ?? (signIn.isError ? messageOf(signIn.error) : signIn.isIdle ? problem : null);
  return (
    <main className="grid h-full place-items-center overflow-y-auto p-5">
      <div className="w-full max-w-sm">
        <Logo size={36} />
        <h1 className="mt-5 text-xl font-semibold tracking-tight">Sign in to Muster</h1>
        <SignInLinks next={isSignInPage ? "/" : location.pathname + location.search} />
        <p className="mt-4 text-ink-soft">
          The server prints a sign-in link when it starts. Each link works once. To get a new one,
          run this on the server's machine:
        </p>
        <pre className="mt-3 overflow-x-auto rounded-lg border border-line bg-panel px-3 py-2 font-mono text-[0.8125rem]">
          npx muster login-link
        </pre>
        <form className="mt-6 space-y-3" onSubmit={submit}>
          <TextField
            label="Sign-in link or API key"
            name="secret"
            type="password"
            autoComplete="off"
            spellCheck={false}
            ref={focusOnMount}
            value={pasted}
            onChange={(event) => setPasted(event.target.value)}
          />
          {error && <InlineError>{error}</InlineError>}
          <Button
            type="submit"
            look="primary"
            className="w-full"
            disabled={signIn.isPending || pasted.trim() === ""}
          >
            {signIn.isPending ? "Signing in…" : "Sign in"}
          </Button>
        </form>
        <PasswordForm
          isBusy={signIn.isPending}
          onSignIn={(secret) => {
            setInputProblem(null);
            signIn.mutate(secret);
          }}
        />
      </div>
    </main>
  );
}

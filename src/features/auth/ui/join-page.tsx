import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, useEffect, useRef, useState } from "react";
import { messageOf } from "#surfaces/web/kit/api/api-client.ts";
import { acceptInvitation } from "#surfaces/web/kit/api/sign-in.ts";
import { Button } from "#surfaces/web/kit/button.tsx";
import { InlineError, TextField } from "#surfaces/web/kit/field.tsx";
import { Logo } from "#surfaces/web/kit/logo.tsx";
import { JoinButtons } from "./provider-buttons.tsx";
import { tokenInFragment } from "./read-secret.ts";

const MIN_PASSWORD_CHARS = 12;

/** Target of an invitation link. The token is removed from the address at once, and kept nowhere else. */
export function JoinPage() {
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const [token] = useState(() => tokenInFragment(location.hash));
  const [name, setName] = useState("");
  const [email, setEmail] = useState("");
  const [password, setPassword] = useState("");
  // A ref, and no argument: the mutation cache keeps the arguments of a refused call.
  const passwordToSend = useRef("");
  useEffect(() => history.replaceState(history.state, "", location.pathname), []);
  const join = useMutation({
    mutationFn: (who: { name: string; email: string }) =>
      acceptInvitation(token ?? "", { ...who, password: passwordToSend.current }),
    gcTime: 0,
    onSuccess: async () => {
      queryClient.clear();
      await navigate({ to: "/", replace: true });
    },
    onSettled: () => {
      passwordToSend.current = "";
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    passwordToSend.current = password;
    join.mutate({ name: name.trim(), email: email.trim() });
  };
  return (
    <main className="grid h-full place-items-center overflow-y-auto p-5">
      <div className="w-full max-w-sm">
        <Logo size={36} />
        <h1 className="mt-5 text-xl font-semibold tracking-tight">Join Muster</h1>
        {token === undefined ? (
          <p className="mt-2 text-ink-soft">
            This link contains no invitation. Open the complete link, or ask for a new one.
          </p>
        ) : (
          <>
            <JoinButtons invitation={token} />
            <form aria-label="Join" className="mt-5 space-y-3" onSubmit={submit}>
              <TextField
                label="Name"
                autoComplete="name"
                required
                maxLength={100}
                value={name}
                onChange={(event) => setName(event.target.value)}
              />
              <TextField
                label="E-mail"
                type="email"
                autoComplete="username"
                required
                maxLength={254}
                value={email}
                onChange={(event) => setEmail(event.target.value)}
              />
              <TextField
                label="Password"
                hint={`at least ${MIN_PASSWORD_CHARS} characters`}
                type="password"
                autoComplete="new-password"
                required
                minLength={MIN_PASSWORD_CHARS}
                maxLength={256}
                value={password}
                onChange={(event) => setPassword(event.target.value)}
              />
              {join.isError && <InlineError>{messageOf(join.error)}</InlineError>}
              <Button type="submit" look="primary" className="w-full" disabled={join.isPending}>
                {join.isPending ? "Joining…" : "Join"}
              </Button>
            </form>
          </>
        )}
      </div>
    </main>
  );
}

import { type FormEvent, useState } from "react";
import type { SignInRequest } from "#features/auth/contract.ts";
import { Button } from "#surfaces/web/kit/button.tsx";
import { TextField } from "#surfaces/web/kit/field.tsx";

interface PasswordFormProps {
  isBusy: boolean;
  onSignIn: (secret: SignInRequest) => void;
}

/** Sign-in for people who joined by an invitation. */
export function PasswordForm({ isBusy, onSignIn }: PasswordFormProps) {
  const [email, setEmail] = useState("");
  const [password, setPassword] = useState("");
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onSignIn({ email: email.trim(), password });
    setPassword("");
  };
  return (
    <form
      aria-label="Use a password"
      className="mt-6 space-y-3 border-t border-line pt-5"
      onSubmit={submit}
    >
      <TextField
        label="E-mail"
        type="email"
        autoComplete="username"
        value={email}
        onChange={(event) => setEmail(event.target.value)}
      />
      <TextField
        label="Password"
        type="password"
        autoComplete="current-password"
        value={password}
        onChange={(event) => setPassword(event.target.value)}
      />
      <Button
        type="submit"
        className="w-full"
        disabled={isBusy || email.trim() === "" || password === ""}
      >
        Sign in with a password
      </Button>
    </form>
  );
}

/**
 * Interface to a sign-in service: the address to send a browser to, and the identity that comes back. A
 * service is trusted no further: it names an account, and the server's own rows say who owns it.
 */
export interface SignInProvider {
  id: "github" | "oidc";
  /** Text of its button. */
  name: string;
  /** Authority behind an identity; issuer and subject together identify an account. */
  issuer: string;
  authorizeUrl(round: SignInSecrets): Promise<string>;
  /** Throws a refusal unless the service confirms the identity for this very sign-in. */
  identify(answer: ProviderCallback, round: Omit<SignInSecrets, "state">): Promise<Identity>;
}

/** Secrets of one sign-in, each for one reader. */
export interface SignInSecrets {
  state: string;
  /** Sent only when the code is exchanged for a token: a stolen code alone is worthless. */
  verifier: string;
  /** Returned in the ID token: a token made for another sign-in is worthless. */
  nonce: string;
  redirectUri: string;
}

export interface ProviderCallback {
  code: string;
  /** Issuer of the response, if given. */
  iss: string | undefined;
}

export interface Identity {
  /** Identifier that the service never gives to another account. */
  subject: string;
  /** Name by which its owner recognises the account. */
  label: string;
  name: string;
  /** Addresses that the service has verified, in lower case, the main one first. */
  emails: readonly string[];
}

/**
 * What signing in asks of somebody else's service: where to send a browser, and who came back. What
 * a service says is never trusted further than that: it names an account, and the server's own rows
 * say whose it is.
 */
export interface SignInProvider {
  id: "github" | "oidc";
  /** Said on its button. */
  name: string;
  /** Whose word it is; accounts are known by it and by their subject. */
  issuer: string;
  authorizeUrl(round: Round): Promise<string>;
  /** Throws a refusal unless the service confirms, for this very round, who it was. */
  identify(answer: ProviderAnswer, round: Omit<Round, "state">): Promise<Identity>;
}

/** The secrets of one sign-in, each for one reader. */
export interface Round {
  state: string;
  /** Shown only when the code is changed for a token: who has caught the code alone has nothing. */
  verifier: string;
  /** Comes back in the ID token: one that was made for another round is of no use. */
  nonce: string;
  redirectUri: string;
}

export interface ProviderAnswer {
  code: string;
  /** Which issuer answered, if it says so. */
  iss: string | undefined;
}

export interface Identity {
  /** Given to one account for ever. */
  subject: string;
  /** For its owner to know it by. */
  label: string;
  name: string;
  /** Only those that the service has verified, in lower case, the main one first. */
  emails: readonly string[];
}

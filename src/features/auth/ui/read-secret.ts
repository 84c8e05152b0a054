/** Pasted secret: a sign-in link (its token is in the fragment) or an API key. */
export type Secret = { token: string } | { key: string };

export function tokenInFragment(fragment: string): string | undefined {
  const token = new URLSearchParams(fragment.replace(/^#/, "")).get("token");
  return token === null || token === "" ? undefined : token;
}

/** Returns undefined when the text can be neither. */
export function readSecret(pasted: string): Secret | undefined {
  const text = pasted.trim();
  const hash = text.indexOf("#");
  if (hash >= 0) {
    const token = tokenInFragment(text.slice(hash));
    return token === undefined ? undefined : { token };
  }
  if (text === "" || /\s/.test(text) || /^https?:\/\//i.test(text)) return undefined;
  return text.startsWith("token=") ? readSecret(`#${text}`) : { key: text };
}

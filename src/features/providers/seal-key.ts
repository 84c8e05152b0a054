/**
 * Providers' keys at rest. The purpose of a key is sealed with it, so a row that was copied to another name
 * or organisation, or pointed to another address, cannot be opened.
 */
import { Refusal } from "#base/refusal.ts";
import { createSealer } from "#base/secrets/seal.ts";
import type { EncryptedColumn } from "#base/secrets/secret-key.ts";

const PURPOSE = "muster model provider keys";

export const providerKeyColumn: EncryptedColumn = {
  table: "provider_settings",
  column: "secret",
  purpose: PURPOSE,
  bindingOf: ({ org_id = "", name = "", base_url: baseUrl = "" }) =>
    boundTo({ orgId: org_id, name, baseUrl }),
  forget: "value",
};

export interface KeyBinding {
  orgId: string;
  name: string;
  baseUrl: string;
}

export interface KeySealer {
  seal(apiKey: string, place: KeyBinding): string;
  /** Refuses a key that was sealed under another secret key, or for another provider entry. */
  open(sealed: string, place: KeyBinding): string;
}

export function createKeySealer(secretKey: string): KeySealer {
  const sealer = createSealer(secretKey, PURPOSE);
  return {
    seal: (apiKey, place) => sealer.seal(apiKey, boundTo(place)),
    open(sealed, place) {
      const apiKey = sealer.open(sealed, boundTo(place));
      if (apiKey === undefined) throw secretKeyChanged(place.name);
      return apiKey;
    },
  };
}

function boundTo({ orgId, name, baseUrl }: KeyBinding): readonly string[] {
  return [orgId, name, baseUrl];
}

function secretKeyChanged(name: string): Refusal {
  return new Refusal(
    "unavailable",
    "secret_key_changed",
    `The stored key of the provider ${name} cannot be decrypted: the server's secret key has changed since. Restore the old one (MUSTER_SECRET_KEY, or secret.key in the data folder), or set the provider's key again.`,
  );
}

import { expect, it } from "vitest";
import { oauthError } from "./ask-provider.ts";

it.each(["invalid_grant", "access_denied", "bad_verification_code", "redirect_uri_mismatch"])(
  "tells the word %s of a provider's error",
  (error) => expect(oauthError({ error })).toBe(error),
);

it.each([
  "gho_16C7e42F292c6912E7710c838347Ae178B4a",
  "mst_state_abcdefghijklmnopqrstuvwxyz012345",
  "code-1234",
  "eyJhbGciOiJIUzI1NiJ9.x",
  "Otter",
  "a".repeat(41),
  "invalid_grant\nlevel",
  "",
  5,
  null,
])("tells nothing of %j, which is no such word", (error) => {
  expect(oauthError({ error })).toBe("no reason given");
});

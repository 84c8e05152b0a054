import { expect, test } from "vitest";
import { requireEncrypted } from "./plain-http.ts";

test.each([
  "http://127.0.0.1:4747",
  "http://127.9.9.9:1",
  "http://localhost:4747",
  "ws://[::1]:4747/api/live",
  "https://muster.example",
  "wss://10.0.0.1",
])("%s is private", (address) => {
  expect(() => requireEncrypted(address, false)).not.toThrow();
});

test.each([
  "http://muster.example",
  "http://10.0.0.1:4747",
  "ws://192.168.1.2:4747",
  "http://localhost.evil.example",
  "http://127.0.0.1.evil.example",
  "http://[2001:db8::1]:4747",
  "http://0.0.0.0:4747",
])("%s is not, unless somebody says so", (address) => {
  expect(() => requireEncrypted(address, false)).toThrow(/MUSTER_INSECURE_HTTP/);
  expect(() => requireEncrypted(address, true)).not.toThrow();
});

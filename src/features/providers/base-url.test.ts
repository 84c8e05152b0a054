import { describe, expect, it } from "vitest";
import { normalBaseUrl } from "./base-url.ts";

describe("the address of a provider", () => {
  it.each([
    ["https://api.example.com", "https://api.example.com/v1"],
    ["https://api.example.com/", "https://api.example.com/v1"],
    [" https://api.example.com/v1 ", "https://api.example.com/v1"],
    ["https://api.example.com/v1/", "https://api.example.com/v1"],
    ["https://api.example.com/v1/chat/completions", "https://api.example.com/v1"],
    ["https://openrouter.ai/api/v1", "https://openrouter.ai/api/v1"],
    ["https://example.com/v1beta/openai/", "https://example.com/v1beta/openai"],
    ["http://localhost:11434", "http://localhost:11434/v1"],
    ["http://127.1:8000", "http://127.0.0.1:8000/v1"],
    ["http://[::1]:8000/v1", "http://[::1]:8000/v1"],
    ["http://10.0.0.5", "http://10.0.0.5/v1"],
    ["http://172.31.255.1", "http://172.31.255.1/v1"],
    ["http://100.101.102.103:8000", "http://100.101.102.103:8000/v1"],
    ["http://[fd12::1]:8000", "http://[fd12::1]:8000/v1"],
  ])("%s is kept as %s", (given, kept) => {
    expect(normalBaseUrl(given)).toBe(kept);
  });

  it.each([
    "",
    "api.example.com",
    "ftp://example.com",
    "file:///etc/passwd",
    "https://user@example.com",
    "https://user:secret@example.com",
    "https://example.com/v1?key=secret",
    "https://example.com/v1#secret",
    "http://api.example.com",
    "http://localhost.example.com",
    "http://172.32.0.1",
    "http://169.254.169.254/v1",
    "http://[::ffff:169.254.169.254]/v1",
    "http://0.0.0.0:8000",
    "http://8.8.8.8",
  ])("%j is refused without being repeated", (given) => {
    expect(() => normalBaseUrl(given)).toThrow(
      expect.objectContaining({ code: "base_url_invalid" }),
    );
    try {
      normalBaseUrl(given);
    } catch (error) {
      expect(String(error)).not.toContain("secret");
    }
  });
});

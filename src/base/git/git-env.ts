/**
 * The environment in which git runs for us. What git reads was perhaps written by an attacker, so
 * nothing that could make it start another program is taken from a repository or from a home: no
 * hooks, no file watcher, no filters, no prompts, no settings but these.
 */

const SETTINGS: Readonly<Record<string, string>> = {
  "core.hooksPath": "/dev/null",
  "core.fsmonitor": "false",
  "core.attributesFile": "/dev/null",
  "core.excludesFile": "/dev/null",
  "core.autocrlf": "false",
  "core.quotePath": "false",
  "core.trustctime": "false",
  "diff.ignoreSubmodules": "all",
  "gc.auto": "0",
  // A server that prepares a large answer says a byte a second; one that says nothing is given up.
  "http.lowSpeedLimit": "1",
  "http.lowSpeedTime": "60",
  "maintenance.auto": "false",
  "protocol.ext.allow": "never",
  "safe.directory": "*",
  "submodule.recurse": "false",
};

export interface GitEnvOptions {
  /** By which git may reach a repository, such as `https`; no other is taken, whatever is asked. */
  protocols: readonly string[];
  /** Besides those that always hold. */
  settings?: Readonly<Record<string, string>>;
}

export function gitEnv({ protocols, settings = {} }: GitEnvOptions): Record<string, string> {
  const all = Object.entries({ ...SETTINGS, ...settings });
  return {
    HOME: "/nonexistent",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_ATTR_NOSYSTEM: "1",
    GIT_TERMINAL_PROMPT: "0",
    GIT_ASKPASS: "/bin/false",
    GIT_ALLOW_PROTOCOL: protocols.join(":"),
    GIT_AUTHOR_NAME: "Muster",
    GIT_AUTHOR_EMAIL: "muster@muster.invalid",
    GIT_COMMITTER_NAME: "Muster",
    GIT_COMMITTER_EMAIL: "muster@muster.invalid",
    GIT_CONFIG_COUNT: String(all.length),
    ...Object.fromEntries(
      all.flatMap(([key, value], i) => [
        [`GIT_CONFIG_KEY_${i}`, key],
        [`GIT_CONFIG_VALUE_${i}`, value],
      ]),
    ),
  };
}

/** Git's own last words, without anything that could be a password in an address. */
export function lastWords(stderr: string): string {
  const lines = stderr.trim().split("\n").slice(-3).join(" ");
  return lines.replace(/:\/\/[^@/\s]*@/g, "://").slice(0, 500);
}

/**
 * The environment of every git process that we start. An attacker may have written what git reads,
 * so nothing that could start another program is taken from a repository or a home folder: no
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
  // A server that prepares a large response sends a byte a second; a silent one is given up.
  "http.lowSpeedLimit": "1",
  "http.lowSpeedTime": "60",
  "maintenance.auto": "false",
  "protocol.ext.allow": "never",
  "safe.directory": "*",
  "submodule.recurse": "false",
};

export interface GitEnvOptions {
  /** Protocols git may use, such as `https`; every other protocol is refused. */
  protocols: readonly string[];
  /** Settings besides the ones that always apply. */
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

/** The last lines of git's error output, without anything that could be a password in a URL. */
export function lastErrorLines(stderr: string): string {
  const lines = stderr.trim().split("\n").slice(-3).join(" ");
  return lines.replace(/:\/\/[^@/\s]*@/g, "://").slice(0, 500);
}

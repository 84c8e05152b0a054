/**
 * Facts that the ACP runtime needs about an agent program. A new agent that speaks the protocol is
 * one more preset and no code.
 */
export interface AgentPreset {
  /** Name of the runtime. */
  name: string;
  /** Program and its arguments; the program is looked up in `PATH` unless it is a path. */
  command: readonly string[];
  /** Variables added to the agent's clean environment. */
  env: Readonly<Record<string, string>>;
  /** Advice for a person when the program is not installed. */
  install: string;
}

export const OPENCODE: AgentPreset = {
  name: "opencode",
  command: ["opencode", "acp"],
  env: {
    OPENCODE_DISABLE_MODELS_FETCH: "1",
    OPENCODE_DISABLE_AUTOUPDATE: "1",
    OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
    OPENCODE_DISABLE_DEFAULT_PLUGINS: "1",
  },
  install: "Put `opencode` into the runner's PATH.",
};

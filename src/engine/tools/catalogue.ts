/**
 * All tools, and which of them an agent has. Other tools are absent from the agent's list, and its
 * calls to them are refused.
 */
import { isOrchestrator } from "#protocol/sessions.ts";
import {
  type AgentRole,
  isAvailableTo,
  type ToolDefinition,
  type ToolSpec,
  type ToolUser,
  toolDefinition,
  workspaceTools,
} from "#protocol/tools.ts";
import type { SessionRow } from "../schema.ts";
import { labelsOf } from "../sessions/labels.ts";
import type { Tool } from "./tool.ts";

export interface Catalogue {
  /**
   * Resolves a name or alias. Where several tools share it (`send_message` is the message to a child
   * and the mail of other products), those that `user` has come first, and of them the one whose
   * schema fits `input`; else the one that owns the name.
   */
  find(name: string, input?: unknown, user?: ToolUser): ToolSpec | undefined;
  /** Resolves a name among the tools of the server. */
  findTool(name: string, input?: unknown, user?: ToolUser): Tool | undefined;
  /** Names of all tools that an agent has. */
  namesFor(session: SessionRow): readonly string[];
  /** Tools of the server that an agent has. */
  toolsFor(session: SessionRow): readonly Tool[];
  /** Descriptions of the server's tools for runners. */
  readonly definitions: readonly ToolDefinition[];
}

export function createCatalogue(tools: readonly Tool[]): Catalogue {
  const specs = byName([...workspaceTools, ...tools]);
  const serverTools = byName(tools);
  const names = new Map<string, readonly string[]>();
  return {
    find: (name, input, user) => pick(specs.get(name), input, user),
    findTool: (name, input, user) => pick(serverTools.get(name), input, user),
    namesFor(session) {
      const user = toolUserOf(session);
      const key = `${user.role} ${user.hasRepo} ${session.labels}`;
      const known = names.get(key) ?? definitionsFor([...workspaceTools, ...tools], user);
      names.set(key, known);
      return known;
    },
    toolsFor(session) {
      const user = toolUserOf(session);
      return tools.filter((tool) => isAvailableTo(tool, user));
    },
    definitions: tools.map(toolDefinition),
  };
}

/** All tools under each name, the owner of the name first. */
function byName<T extends ToolSpec>(tools: readonly T[]): Map<string, T[]> {
  const named = new Map<string, T[]>();
  for (const tool of tools) named.set(tool.name, [tool]);
  for (const tool of tools)
    for (const alias of tool.aliases ?? []) named.set(alias, [...(named.get(alias) ?? []), tool]);
  return named;
}

function pick<T extends ToolSpec>(
  tools: readonly T[] = [],
  input: unknown,
  user: ToolUser | undefined,
): T | undefined {
  if (tools.length < 2) return tools[0];
  const own = user ? tools.filter((tool) => isAvailableTo(tool, user)) : tools;
  const choice = own.length > 0 ? own : tools;
  return choice.find(({ schema }) => schema.safeParse(input).success) ?? choice[0];
}

function definitionsFor(tools: readonly ToolSpec[], user: ToolUser): string[] {
  return tools.filter((tool) => isAvailableTo(tool, user)).map(({ name }) => name);
}

export function toolUserOf(session: SessionRow): ToolUser {
  return { role: roleOf(session), hasRepo: session.repo !== null, labels: labelsOf(session) };
}

/** An orchestrator's kind is its role; a child is a child, whatever role it was given before. */
export function roleOf(
  session: Pick<SessionRow, "kind" | "role" | "parent_session_id">,
): AgentRole {
  if (isOrchestrator(session)) return session.kind;
  if (session.parent_session_id !== null) return "child";
  return session.role ?? "standalone";
}

/** Tools that a runner performs, and their state for each session. */
import { BackgroundProcesses } from "./commands/background-processes.ts";
import { createBashTool, type WorkingDirectories } from "./commands/bash.ts";
import { createProcessesTool } from "./commands/processes.ts";
import { createEditTool } from "./files/edit.ts";
import { createReadTool } from "./files/read.ts";
import { createWriteTool } from "./files/write.ts";
import { createGitStateTool, createPullRequestTool, createPushTool } from "./git/git-tools.ts";
import { createGlobTool } from "./search/glob.ts";
import { createGrepTool } from "./search/grep.ts";
import { createTodoTool } from "./todo.ts";
import type { RunnerTools } from "./tool.ts";
import { createWebFetchTool, type WebFetchOptions } from "./web/web-fetch.ts";

export interface RunnerToolsOptions {
  webFetch?: WebFetchOptions;
}

export function createRunnerTools(options: RunnerToolsOptions = {}): RunnerTools {
  const background = new BackgroundProcesses();
  const directories: WorkingDirectories = new Map();
  const tools = [
    createBashTool(background, directories),
    createProcessesTool(background),
    createReadTool(),
    createWriteTool(),
    createEditTool(),
    createGlobTool(),
    createGrepTool(),
    createWebFetchTool(options.webFetch),
    createTodoTool(),
    createGitStateTool(),
    createPushTool(),
    createPullRequestTool(),
  ];
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  return {
    get: (name) => byName.get(name),
    workingDirectory: (sessionId) => directories.get(sessionId) ?? null,
    takeEndedByRest: (sessionId) => background.takeEndedByRest(sessionId),
    async rest(sessionId) {
      directories.delete(sessionId);
      await background.rest(sessionId);
    },
    async endSession(sessionId) {
      directories.delete(sessionId);
      await background.endSession(sessionId);
    },
    async close() {
      directories.clear();
      await background.close();
    },
  };
}

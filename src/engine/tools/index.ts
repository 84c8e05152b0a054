export { type Catalogue, createCatalogue, roleOf } from "./catalogue.ts";
export {
  type CallToJudge,
  createToolPolicy,
  type Judge,
  type Judgement,
  type ToolPolicy,
} from "./judge.ts";
export { defineTool, type Tool, type ToolCaller, type ToolResult } from "./tool.ts";
export {
  createToolHost,
  type ToolAnswer,
  type ToolCall,
  type ToolHost,
} from "./tools.ts";

export { type Catalogue, createCatalogue, roleOf } from "./catalogue.ts";
export { type Bench, type CallToJudge, createBench, type Judge, type Judgement } from "./judge.ts";
export { defineTool, type Tool, type ToolCaller, type ToolResult } from "./tool.ts";
export {
  createToolHost,
  type ToolAnswer,
  type ToolCall,
  type ToolHost,
} from "./tools.ts";

export { type Bench, type CallToJudge, createBench, type Judge, type Judgement } from "./judge.ts";
export {
  createToolHost,
  defineTool,
  type Tool,
  type ToolAnswer,
  type ToolCall,
  type ToolCaller,
  type ToolHost,
  type ToolResult,
} from "./tools.ts";

export {
  createToolHost,
  defineTool,
  type Tool,
  type ToolCall,
  type ToolHost,
  type ToolResult,
} from "./tools.ts";

/** Commands about sign-in, keys and clients of the account. */
export { addKeysCommands } from "./keys.ts";
export { addLoginCommand } from "./login.ts";
export { addLoginLinkCommand } from "./login-link.ts";
export { addPasswordCommand } from "./login-password.ts";
export { addMcpCommand } from "./mcp.ts";

/** Commands about sessions: chat, run and the group `sessions`. */
export { addChatCommand } from "./chat.ts";
export { addRunCommand } from "./run.ts";
export { addSessionsCommands } from "./sessions.ts";

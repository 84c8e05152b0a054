/** Commands about machines and the models they offer. */
export { addModelsCommand } from "./models.ts";
export { addRunnersCommands } from "./runners.ts";

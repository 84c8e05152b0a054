export { type BlobInput, MAIN_THREAD } from "./admit-prompt.ts";

export { findWorkspace } from "./queries.ts";

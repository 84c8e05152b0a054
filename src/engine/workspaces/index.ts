export { findWorkspace } from "./queries.ts";
export { relocateSession } from "./relocate.ts";

/** Retention: how long rows are kept, and the steps that remove them. */
export { Housekeeping } from "./housekeeping.ts";

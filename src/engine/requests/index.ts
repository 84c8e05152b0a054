/** Requests to the server: principals, cursors and idempotency keys. */
export { decodeCursor, encodeCursor, pageOf } from "./cursor.ts";
export { findRepeated, type IdempotentRequest } from "./idempotency.ts";

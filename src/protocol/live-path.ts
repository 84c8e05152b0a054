/** Path of the live socket, apart from its frames: a page imports it, and no schema with it. */
export const LIVE_PATH = "/api/live";

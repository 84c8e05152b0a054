export { streamEvents } from "./event-stream.ts";
export { MAX_LIVE_FRAME_BYTES, serveLive } from "./live-socket.ts";
export { SessionFeeds } from "./session-feed.ts";

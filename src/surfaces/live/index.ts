export { streamEvents } from "./event-stream.ts";
export { MAX_LIVE_FRAME_BYTES, type MessageRate, serveLive } from "./live-socket.ts";
export { SessionFeeds } from "./session-feed.ts";
export { SocketIntake } from "./socket-intake.ts";

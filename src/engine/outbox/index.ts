export { deliverDue, sendLater } from "./outbox.ts";

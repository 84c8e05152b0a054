/** Frames of the `/api/live` socket. Only session topics have a log to replay; others carry hints. */
import * as z from "zod";
import type { Delta, SessionEvent } from "./events.ts";

export const liveClientFrameSchema = z.discriminatedUnion("op", [
  z.strictObject({
    op: z.literal("subscribe"),
    topic: z.string().min(1).max(200),
    after: z.number().int().min(0).optional(),
  }),
  z.strictObject({ op: z.literal("unsubscribe"), topic: z.string().min(1).max(200) }),
]);
export type LiveClientFrame = z.infer<typeof liveClientFrameSchema>;

export type LiveServerFrame =
  | ({ topic: string } & SessionEvent)
  | ({ topic: string; type: "delta" } & Delta)
  | { topic: string; type: string; id: string; rev: number }
  | { op: "subscribed"; topic: string; after: number }
  | { op: "reset"; topic: string; after: number }
  | { op: "error"; topic?: string; code: string; message: string };

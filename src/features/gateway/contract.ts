/** The model gateway's settings on the wire. */
import * as z from "zod";
import { isoTime } from "#protocol/page.ts";

export const gatewaySettingsSchema = z
  .object({
    /** Members' own runners reach the organisation's models, for turns of their owner. */
    personalRunners: z.boolean(),
    /** Providers whose keys stand in the server's environment are offered to runners too. */
    environmentKeys: z.boolean(),
    /** Null: never changed. */
    updatedAt: isoTime.nullable(),
  })
  .meta({ id: "ModelGateway" });
export type GatewaySettings = z.infer<typeof gatewaySettingsSchema>;

export const gatewayChangeSchema = z.strictObject({
  personalRunners: z.boolean().optional(),
  environmentKeys: z.boolean().optional(),
});

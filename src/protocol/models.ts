/** Models as runners report them and people choose them. */
import * as z from "zod";
import { microsSchema } from "./bounds.ts";

/** The model gateway sets this header on answers that come from a provider. */
export const FROM_PROVIDER_HEADER = "x-muster-from-provider";

/** Prices in micro-dollars for a million tokens. */
export const modelPriceSchema = z
  .object({
    /** Name of the price and the day it was taken from. */
    id: z.string().max(400),
    inputMicros: microsSchema,
    cachedInputMicros: microsSchema,
    outputMicros: microsSchema,
  })
  .meta({ id: "ModelPrice" });

export const modelCapabilitySchema = z
  .object({
    /** `provider/model`. */
    id: z.string().max(300),
    provider: z.string().max(100),
    usable: z.boolean(),
    /** Next step that makes the model usable; null when it is usable. */
    why: z.string().max(1000).nullable(),
    /** Null when the price, and so the cost, is not known. */
    price: modelPriceSchema.nullable(),
  })
  .meta({ id: "Model" });
export type ModelCapability = z.infer<typeof modelCapabilitySchema>;

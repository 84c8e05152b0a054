/** The model gateway on the wire: its settings, and the providers it offers to runners. */
import * as z from "zod";
import { PROVIDER_KINDS } from "#features/providers/contract.ts";
import { apiRoute } from "#protocol/api-route.ts";
import { isoTime } from "#protocol/page.ts";

const gatewaySettingsSchema = z
  .object({
    /** Members' own runners may use the organisation's models, for turns of their owner. */
    personalRunners: z.boolean(),
    /** Providers whose keys are in the server's environment are offered to runners too. */
    environmentKeys: z.boolean(),
    /** Null: never changed. */
    updatedAt: isoTime.nullable(),
  })
  .meta({ id: "ModelGateway" });
export type GatewaySettings = z.infer<typeof gatewaySettingsSchema>;

const gatewayChangeSchema = z.strictObject({
  personalRunners: z.boolean().optional(),
  environmentKeys: z.boolean().optional(),
});
export type GatewayChange = z.infer<typeof gatewayChangeSchema>;

const configuredProviderSchema = z
  .object({
    name: z.string(),
    kind: z.enum(PROVIDER_KINDS),
    models: z.array(z.string()).nullable(),
  })
  .meta({ id: "GatewayProvider" });

const SETTINGS = "/api/orgs/{orgId}/model-gateway";
const one = z.object({ gateway: gatewaySettingsSchema });

export const gatewayApi = {
  get: apiRoute({
    method: "get",
    path: SETTINGS,
    summary: "Which machines reach the organisation's models",
    tag: "Providers",
    response: one,
  }),
  update: apiRoute({
    method: "put",
    path: SETTINGS,
    summary: "Open or close the model gateway to members' machines and environment keys (admins)",
    tag: "Providers",
    body: gatewayChangeSchema,
    response: one,
  }),
  providers: apiRoute({
    method: "get",
    path: "/api/gateway",
    summary: "Model providers that a runner reaches through this server",
    tag: "Runners",
    response: z.object({ items: z.array(configuredProviderSchema) }),
  }),
};

/** Lists the models of an endpoint, with a short timeout: the endpoint may well not be running. */
import * as z from "zod";
import { type Fetch, readStart } from "./sdk/wire-guard.ts";

const PROBE_TIMEOUT_MS = 700;
const MAX_MODELS = 500;
const MAX_BYTES = 4_000_000;

const listSchema = z.object({ data: z.array(z.object({ id: z.string().min(1) })).nullable() });

/** Null when the endpoint does not answer as expected. */
export async function listEndpointModels(
  baseUrl: string,
  apiKey: string | undefined,
  fetch: Fetch,
): Promise<string[] | null> {
  try {
    const response = await fetch(`${baseUrl}/models`, {
      headers: apiKey ? { authorization: `Bearer ${apiKey}` } : {},
      redirect: "error",
      signal: AbortSignal.timeout(PROBE_TIMEOUT_MS),
    });
    const text = response.body ? await readStart(response.body, MAX_BYTES) : "";
    if (!response.ok) return null;
    const list = listSchema.safeParse(JSON.parse(text));
    return list.success ? (list.data.data ?? []).slice(0, MAX_MODELS).map(({ id }) => id) : null;
  } catch {
    return null;
  }
}

/** Built-in personas. */
import { engineer } from "./engineer.ts";
import { researcher } from "./researcher.ts";
import { reviewer } from "./reviewer.ts";
import type { ShippedPersona } from "./shipped-persona.ts";

export const shippedPersonas: readonly ShippedPersona[] = [engineer, researcher, reviewer];

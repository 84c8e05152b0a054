/** Fields of a built-in persona; all others have the defaults of a new persona. */
import type { PersonaFile } from "../contract.ts";

export interface ShippedPersona {
  slug: string;
  name: string;
  description: string;
  icon: string;
  files: PersonaFile[];
}

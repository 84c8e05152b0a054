/** What a persona that ships says; everything else is as for any new one. */
import type { PersonaFile } from "../contract.ts";

export interface ShippedPersona {
  slug: string;
  name: string;
  description: string;
  icon: string;
  files: PersonaFile[];
}

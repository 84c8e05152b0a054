import { SelectField } from "#surfaces/web/kit/field.tsx";
import { usePersonas } from "#surfaces/web/kit/hooks/use-settings.ts";

interface PersonaChoiceProps {
  /** Persona slug; empty for automatic choice. */
  chosen: string;
  onChange: (slug: string) => void;
}

/** Chooses a persona; automatic is the repository's persona or the organisation's default. */
export function PersonaChoice({ chosen, onChange }: PersonaChoiceProps) {
  const personas = usePersonas().data ?? [];
  const standard = personas.find(({ isDefault }) => isDefault);
  return (
    <SelectField
      label="Persona"
      name="persona"
      value={chosen}
      onChange={(event) => onChange(event.target.value)}
    >
      <option value="">{standard ? `Automatic (${standard.name})` : "Automatic"}</option>
      {personas.map(({ id, slug, name, visibility }) => (
        <option key={id} value={slug}>
          {visibility === "private" ? `${name} (private)` : name}
        </option>
      ))}
    </SelectField>
  );
}

import { Link } from "@tanstack/react-router";
import { Plus } from "lucide-react";
import type { PersonaSummary } from "#features/personas/contract.ts";
import { api } from "#surfaces/web/kit/api/api-client.ts";
import { keys } from "#surfaces/web/kit/api/query-keys.ts";
import { Button } from "#surfaces/web/kit/button.tsx";
import { useIsAdmin, useMe } from "#surfaces/web/kit/hooks/use-me.ts";
import { usePersonas } from "#surfaces/web/kit/hooks/use-settings.ts";
import { Badge, List, Remove, Row, Section } from "#surfaces/web/kit/settings/parts.tsx";
import { useChange } from "#surfaces/web/kit/settings/use-change.ts";
import { NEW_PERSONA } from "./persona-draft.ts";

/** Personas of the organisation and one's own. */
export function PersonasTab() {
  const found = usePersonas();
  const of = (visibility: PersonaSummary["visibility"]) => ({
    ...found,
    data: found.data?.filter((persona) => persona.visibility === visibility),
  });
  return (
    <>
      <Section
        title="Shared"
        text="Everyone in the organisation can use them."
        aside={
          <Link
            to="/settings/personas/$personaId"
            params={{ personaId: NEW_PERSONA }}
            search={true}
            className="inline-flex h-7 items-center gap-1.5 rounded-lg bg-accent px-2 text-xs font-medium text-on-accent hover:brightness-110"
          >
            <Plus size={15} aria-hidden />
            New persona
          </Link>
        }
      >
        <List found={of("shared")} empty="No shared personas yet.">
          {(persona) => <PersonaRow key={persona.id} persona={persona} />}
        </List>
      </Section>
      <Section title="Private" text="Only you can see and use these.">
        <List
          found={of("private")}
          empty="No private personas yet. New personas are private until you share them."
        >
          {(persona) => <PersonaRow key={persona.id} persona={persona} />}
        </List>
      </Section>
    </>
  );
}

function PersonaRow({ persona }: { persona: PersonaSummary }) {
  const orgId = useMe()?.org.id ?? "";
  const isAdmin = useIsAdmin();
  const { id, name, slug, version, description, isDefault } = persona;
  const setDefault = useChange(
    (is: boolean) => api.personas[is ? "setDefault" : "unsetDefault"]({ orgId, id }),
    {
      stale: keys.personas,
      failed: "Couldn't change the default",
    },
  );
  const remove = useChange(() => api.personas.delete({ orgId, id }), {
    stale: keys.personas,
    done: () => `Deleted ${name}`,
    failed: `Couldn't delete ${name}`,
  });
  return (
    <Row
      name={
        <>
          <Link
            to="/settings/personas/$personaId"
            params={{ personaId: id }}
            search={true}
            className="underline-offset-2 hover:underline"
          >
            {name}
          </Link>
          {isDefault && <Badge>Default</Badge>}
        </>
      }
      text={[slug, `version ${version}`, description].filter(Boolean).join(" · ")}
    >
      {isAdmin && persona.visibility === "shared" && (
        <Button
          size="small"
          aria-label={isDefault ? `Unset ${name} as the default` : `Make ${name} the default`}
          disabled={setDefault.isPending}
          onClick={() => setDefault.mutate(!isDefault)}
        >
          {isDefault ? "Unset default" : "Make default"}
        </Button>
      )}
      {persona.mayEdit && (
        <Remove
          label={`Delete ${name}`}
          text="It can no longer be chosen. Sessions that use it keep their version."
          isBusy={remove.isPending}
          onConfirm={() => remove.mutate(undefined)}
        />
      )}
    </Row>
  );
}

import { useQuery } from "@tanstack/react-query";
import type { Persona, VersionSummary } from "#features/personas/contract.ts";
import { api } from "#surfaces/web/kit/api/api-client.ts";
import { keys } from "#surfaces/web/kit/api/query-keys.ts";
import { useMe } from "#surfaces/web/kit/hooks/use-me.ts";
import { Badge, List, Row, Section } from "#surfaces/web/kit/settings/parts.tsx";
import { fullTime } from "#surfaces/web/kit/text/time-words.ts";

export function PersonaVersions({ persona: { id, version } }: { persona: Persona }) {
  const orgId = useMe()?.org.id ?? "";
  const found = useQuery({
    queryKey: keys.personaVersions(id),
    queryFn: async ({ signal }) =>
      (await api.personas.listVersions({ orgId, id }, { signal })).items,
  });
  return (
    <Section
      title="Versions"
      text="A session keeps the version it started with until you refresh it."
    >
      <List found={found} empty="No versions.">
        {(one: VersionSummary) => (
          <Row
            key={one.id}
            name={
              <>
                Version {one.version}
                {one.version === version && <Badge>Current</Badge>}
              </>
            }
            text={
              <>
                <time dateTime={one.createdAt}>{fullTime(one.createdAt)}</time> ·{" "}
                {one.createdBy === "system" ? "built in" : `by ${one.createdBy}`} ·{" "}
                <span className="font-mono">{one.sha256.slice(0, 12)}</span>
              </>
            }
          />
        )}
      </List>
    </Section>
  );
}

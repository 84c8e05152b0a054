import { useQuery } from "@tanstack/react-query";
import { useRunnerChanges } from "#features/sessions/ui/list/sandbox-state.tsx";
import { api } from "#surfaces/web/kit/api/api-client.ts";
import { keys } from "#surfaces/web/kit/api/query-keys.ts";
import { useIsAdmin } from "#surfaces/web/kit/hooks/use-me.ts";
import { List, Row, Section } from "#surfaces/web/kit/settings/parts.tsx";
import { databaseWords, diskProblem, diskWords } from "./disk-words.ts";

/** Machines, and the disk use of each and of the server. */
export function MachinesTab() {
  useRunnerChanges();
  const isAdmin = useIsAdmin();
  const found = useQuery({ queryKey: keys.runners, queryFn: () => api.runners.list() });
  return (
    <>
      <Section title="Runners" text="Updated about once a minute.">
        <List
          found={{ ...found, data: found.data?.items }}
          empty="No runners connected. Start one with: muster runner"
        >
          {({ id, name, state, disk }) => (
            <Row
              key={id}
              name={name}
              text={disk ? `${state} · ${diskWords(disk)}` : state}
              problem={disk ? diskProblem(disk) : null}
            />
          )}
        </List>
      </Section>
      {isAdmin && <ServerDisk />}
    </>
  );
}

function ServerDisk() {
  const found = useQuery({
    queryKey: keys.disk,
    queryFn: () => api.runners.disk(),
    refetchInterval: 60_000,
  });
  const database = found.data?.database;
  const data = found.data === undefined ? undefined : database ? [database] : [];
  return (
    <Section title="Server">
      <List found={{ ...found, data }} empty="This server reports no disk usage.">
        {(use) => <Row key="database" name="Database" text={databaseWords(use)} />}
      </List>
    </Section>
  );
}

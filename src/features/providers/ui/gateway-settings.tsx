import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import type { GatewaySettings as Settings } from "#features/gateway/contract.ts";
import { api, messageOf } from "#surfaces/web/kit/api/api-client.ts";
import { keys } from "#surfaces/web/kit/api/query-keys.ts";
import { InlineError } from "#surfaces/web/kit/field.tsx";
import { useToasts } from "#surfaces/web/kit/toast.tsx";

const CHOICES = [
  {
    name: "personalRunners",
    title: "Members' own machines can use the organisation's models",
    text: "For their owner's turns, metered and within the budget. If off, they need their own keys.",
  },
  {
    name: "environmentKeys",
    title: "Runners on other machines can use keys from the server's environment",
    text: "For example ANTHROPIC_API_KEY. Keys stay on the server; requests go through it.",
  },
] as const;

/** Lists machines that reach the organisation's models through the server. For admins. */
export function GatewaySettings({ orgId }: { orgId: string }) {
  const queryClient = useQueryClient();
  const toasts = useToasts();
  const settings = useQuery({
    queryKey: keys.modelGateway,
    queryFn: ({ signal }) => api.gateway.get({ orgId }, { signal }),
  });
  const change = useMutation({
    mutationFn: (body: Partial<Settings>) => api.gateway.update({ orgId, body }),
    onSuccess: (answer) => queryClient.setQueryData(keys.modelGateway, answer),
    onError: (error) => toasts.fail("Couldn't change the setting", error),
    onSettled: () => queryClient.invalidateQueries({ queryKey: keys.models }),
  });
  if (settings.error) return <InlineError>{messageOf(settings.error)}</InlineError>;
  const gateway = settings.data?.gateway;
  if (!gateway) return null;
  return (
    <section aria-label="Model gateway" className="space-y-1.5">
      <h2 className="font-semibold">Access</h2>
      <div className="divide-y divide-line overflow-hidden rounded-xl border border-line bg-raised">
        {CHOICES.map(({ name, title, text }) => (
          <label key={name} className="flex cursor-pointer items-start gap-2.5 px-3.5 py-2.5">
            <input
              type="checkbox"
              className="mt-1"
              checked={gateway[name]}
              disabled={change.isPending}
              onChange={(event) => change.mutate({ [name]: event.target.checked })}
            />
            <span className="min-w-0">
              <span className="block text-[0.8125rem]">{title}</span>
              <span className="block text-xs text-ink-faint">{text}</span>
            </span>
          </label>
        ))}
      </div>
    </section>
  );
}

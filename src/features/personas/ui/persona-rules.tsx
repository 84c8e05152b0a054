import { Plus, Trash2 } from "lucide-react";
import { useId } from "react";
import type { RuleEffect } from "#features/policy/contract.ts";
import { Button, IconButton } from "#surfaces/web/kit/button.tsx";
import { SelectField, TextField } from "#surfaces/web/kit/field.tsx";
import type { Problems } from "#surfaces/web/kit/settings/field-problems.ts";
import { addRule, changeRule, type PersonaDraft, removeRule } from "./persona-draft.ts";

interface PersonaRulesProps {
  draft: PersonaDraft;
  problems: Problems;
  onChange: (draft: PersonaDraft) => void;
}

/** Suggestions only: a runner may have other tools. */
const TOOLS = ["*", "bash", "read", "write", "edit", "glob", "grep", "web_fetch"];

/** Edits the persona's permission rules. */
export function PersonaRules({ draft, problems, onChange }: PersonaRulesProps) {
  const tools = useId();
  return (
    <div className="space-y-3">
      <div>
        <h3 className="font-semibold">Tool rules</h3>
        <p className="text-xs text-ink-faint">
          For sessions with this persona, in addition to the general rules. Deny overrides ask, and
          ask overrides allow. “Allow” rules apply to other people only if an admin wrote them.
        </p>
      </div>
      <datalist id={tools}>
        {TOOLS.map((tool) => (
          <option key={tool} value={tool} />
        ))}
      </datalist>
      {draft.rules.length === 0 && (
        <p className="text-ink-soft">No rules. The general rules apply.</p>
      )}
      {draft.rules.map((rule, index) => (
        <fieldset
          key={rule.key}
          className="grid min-w-0 grid-cols-[1fr_1fr_auto] items-start gap-2 rounded-xl border border-line bg-raised p-3.5 sm:grid-cols-[7rem_10rem_1fr_auto]"
        >
          <legend className="sr-only">Rule {index + 1}</legend>
          <SelectField
            label="Effect"
            value={rule.effect}
            onChange={(event) =>
              onChange(changeRule(draft, rule.key, { effect: event.target.value as RuleEffect }))
            }
          >
            <option value="allow">Allow</option>
            <option value="ask">Ask</option>
            <option value="deny">Deny</option>
          </SelectField>
          <TextField
            label="Tool"
            spellCheck={false}
            autoCapitalize="none"
            maxLength={100}
            placeholder="bash"
            list={tools}
            problem={problems[`toolPolicy.${index}.tool`]}
            value={rule.tool}
            onChange={(event) =>
              onChange(changeRule(draft, rule.key, { tool: event.target.value }))
            }
          />
          <div className="max-sm:order-1 max-sm:col-span-3">
            <TextField
              label="Pattern"
              hint="* matches anything"
              spellCheck={false}
              maxLength={10_000}
              className="font-mono text-xs"
              placeholder="npm test*"
              problem={problems[`toolPolicy.${index}.pattern`]}
              value={rule.pattern}
              onChange={(event) =>
                onChange(changeRule(draft, rule.key, { pattern: event.target.value }))
              }
            />
          </div>
          <IconButton
            className="mt-5"
            label={`Remove rule ${index + 1}`}
            onClick={() => onChange(removeRule(draft, rule.key))}
          >
            <Trash2 size={16} aria-hidden />
          </IconButton>
        </fieldset>
      ))}
      <Button size="small" onClick={() => onChange(addRule(draft))}>
        <Plus size={15} aria-hidden />
        Add a rule
      </Button>
    </div>
  );
}

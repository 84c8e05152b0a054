import { type FormEvent, useState } from "react";
import { AddModel } from "#features/providers/ui/lazy-add-model.tsx";
import { useModels } from "#features/providers/ui/use-models.ts";
import { useRetry } from "#features/sessions/ui/composer/use-retry.ts";
import { ModelChoice } from "#features/sessions/ui/new/model-choice.tsx";
import { Button } from "#surfaces/web/kit/button.tsx";
import { Modal } from "#surfaces/web/kit/dialog.tsx";
import { useIsAdmin } from "#surfaces/web/kit/hooks/use-me.ts";

interface ChangeModelDialogProps {
  sessionId: string;
  /** Current model; null for automatic choice. */
  model: string | null;
  /** Prompt to send again with the new model; null if there is none. */
  promptId: string | null;
  isOpen: boolean;
  onClose: () => void;
}

/** Chooses another model for a session, and sends the failed prompt again with it. */
export function ChangeModelDialog(props: ChangeModelDialogProps) {
  const { isOpen, onClose } = props;
  return (
    <Modal title="Change the model" isOpen={isOpen} onClose={onClose}>
      <Choice {...props} />
    </Modal>
  );
}

function Choice({ sessionId, model, promptId, onClose }: ChangeModelDialogProps) {
  const models = useModels();
  const mayAdd = useIsAdmin();
  const retry = useRetry();
  const [chosen, setChosen] = useState(model ?? "");
  const [isAdding, setIsAdding] = useState(false);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    retry.mutate({ sessionId, promptId, model: chosen || null }, { onSuccess: onClose });
  };
  return (
    <>
      <form className="space-y-4" onSubmit={submit}>
        <ModelChoice
          models={models}
          chosen={chosen}
          onChange={setChosen}
          onAdd={mayAdd ? () => setIsAdding(true) : undefined}
        />
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" disabled={retry.isPending}>
            {promptId === null ? "Change" : "Change and retry"}
          </Button>
        </div>
      </form>
      {/* Outside of the form: a submit in a dialog bubbles to the form that renders it. */}
      <AddModel
        isOpen={isAdding}
        onClose={() => setIsAdding(false)}
        onAdded={([first]) => first && setChosen(first.id)}
      />
    </>
  );
}

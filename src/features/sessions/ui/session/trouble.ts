/** Problems of a session in words: its last turn failed, or its model cannot be used. Pure. */
import type { ModelCapability } from "#protocol/models.ts";
import type { Prompt, Session } from "#protocol/sessions.ts";

export interface Trouble {
  title: string;
  /** Problem and advice. */
  text: string;
  /** Prompt that can be sent again; null if there is none. */
  promptId: string | null;
}

/** `failed`: newest settled prompt, if its turn failed. */
export function troubleOf(
  session: Session,
  failed: Prompt | undefined,
  models: readonly ModelCapability[],
): Trouble | null {
  if (failed?.error) {
    const isModel = /^(?:model_|context_too_long)/.test(failed.error.code);
    return {
      title: isModel ? modelTitle(session) : "The last turn failed",
      text: failed.error.message,
      promptId: failed.author.kind === "system" ? null : failed.id,
    };
  }
  const why = modelProblem(session, models);
  return why === null ? null : { title: modelTitle(session), text: why, promptId: null };
}

function modelTitle({ model }: Session): string {
  return model === null ? "The model is not working" : `${model} is not working`;
}

/** Returns why no runner can use the model; null if one can, or if nothing is known. */
function modelProblem(
  { model, runtime }: Session,
  models: readonly ModelCapability[],
): string | null {
  if (model === null || runtime !== "native" || models.length === 0) return null;
  if (models.some(({ id, usable }) => id === model && usable)) return null;
  const provider = model.slice(0, model.indexOf("/"));
  const ofProvider = models.filter((offer) => offer.provider === provider);
  const why = ofProvider.find(({ usable, why: reason }) => !usable && reason !== null)?.why;
  if (why) return why;
  // A usable provider may have models that it does not list.
  if (ofProvider.some(({ usable }) => usable)) return null;
  return `No connected machine has a model from ${provider}. Choose another model, or set up ${provider} again.`;
}

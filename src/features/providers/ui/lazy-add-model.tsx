import { type ComponentProps, lazy, Suspense } from "react";

const Dialog = lazy(async () => ({
  default: (await import("./add-model-dialog.tsx")).AddModelDialog,
}));

/** Loads the dialog on demand, because few people add a model. */
export function AddModel(props: ComponentProps<typeof Dialog>) {
  if (!props.isOpen) return null;
  return (
    <Suspense fallback={null}>
      <Dialog {...props} />
    </Suspense>
  );
}

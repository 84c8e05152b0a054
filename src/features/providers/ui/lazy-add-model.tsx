import { type ComponentProps, lazy, Suspense } from "react";

const Dialog = lazy(async () => ({
  default: (await import("./add-model-dialog.tsx")).AddModelDialog,
}));

/** Few add a model, and seldom: what it takes is fetched when somebody does. */
export function AddModel(props: ComponentProps<typeof Dialog>) {
  if (!props.isOpen) return null;
  return (
    <Suspense fallback={null}>
      <Dialog {...props} />
    </Suspense>
  );
}

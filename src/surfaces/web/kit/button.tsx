import { clsx } from "clsx";
import type { ComponentProps } from "react";

type Look = "primary" | "plain" | "ghost" | "danger";

const LOOKS: Record<Look, string> = {
  primary: "bg-accent text-on-accent hover:brightness-110 border-transparent",
  plain: "bg-raised border-line-strong hover:bg-hover",
  ghost: "border-transparent text-ink-soft hover:bg-hover hover:text-ink",
  danger: "bg-bad-soft text-bad border-bad/30 hover:border-bad/60",
};

export interface ButtonProps extends ComponentProps<"button"> {
  look?: Look;
  size?: "small" | "normal";
}

export function Button({ look = "plain", size = "normal", className, type, ...rest }: ButtonProps) {
  return (
    <button
      type={type ?? "button"}
      className={clsx(
        "inline-flex shrink-0 items-center justify-center gap-1.5 rounded-lg border font-medium whitespace-nowrap transition-colors select-none",
        "disabled:pointer-events-none disabled:opacity-45",
        size === "small" ? "h-7 px-2 text-xs" : "h-9 px-3 text-sm",
        LOOKS[look],
        className,
      )}
      {...rest}
    />
  );
}

export interface IconButtonProps extends Omit<ButtonProps, "aria-label"> {
  /** Label for screen readers, and tooltip. */
  label: string;
}

export function IconButton({
  label,
  look = "ghost",
  size = "normal",
  className,
  ...rest
}: IconButtonProps) {
  return (
    <Button
      look={look}
      size={size}
      aria-label={label}
      title={label}
      className={clsx("!px-0", size === "small" ? "w-7" : "w-9", className)}
      {...rest}
    />
  );
}

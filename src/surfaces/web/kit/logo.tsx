export function Logo({ size = 22 }: { size?: number }) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 32 32"
      aria-hidden="true"
      className="shrink-0 text-accent"
    >
      <rect width="32" height="32" rx="8" fill="currentColor" />
      <g fill="var(--page)">
        <circle cx="16" cy="9" r="2.6" />
        <circle cx="11" cy="16" r="2.6" />
        <circle cx="21" cy="16" r="2.6" />
        <circle cx="6" cy="23" r="2.6" opacity="0.55" />
        <circle cx="16" cy="23" r="2.6" />
        <circle cx="26" cy="23" r="2.6" opacity="0.55" />
      </g>
    </svg>
  );
}

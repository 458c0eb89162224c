import type { ComponentChildren } from "preact";
import { Icon, type IconName } from "./Icon";

interface Props {
  testid: string;
  onClick: () => void;
  children?: ComponentChildren;
  icon?: IconName;
  /** name of a button that has only an icon */
  label?: string;
  quiet?: boolean;
  main?: boolean;
  pressed?: boolean;
  disabled?: boolean;
  title?: string;
}

export function Button({
  testid,
  onClick,
  children,
  icon,
  label,
  quiet,
  main,
  pressed,
  disabled,
  title,
}: Props) {
  const kind = main ? "button main" : quiet ? "button quiet" : "button";
  return (
    <button
      type="button"
      class={children ? kind : `${kind} square`}
      data-testid={testid}
      aria-label={label}
      title={title ?? label}
      aria-pressed={pressed}
      disabled={disabled}
      onClick={onClick}
    >
      {icon && <Icon name={icon} />}
      {children}
    </button>
  );
}

// Fields for height and width.

import type { Sides } from "../contract";
import { NumberField } from "./NumberField";

interface Props {
  /** returns the current size, since the other field may have changed after this was drawn */
  size: () => Sides;
  testids: [height: string, width: string];
  least: Sides;
  most: number;
  disabled?: boolean;
  onChange: (size: Sides) => void;
}

export function SizeFields({ size, testids, least, most, disabled, onChange }: Props) {
  return (
    <span class="field-pair" role="group" aria-label="Size">
      <NumberField
        label="Size"
        testid={testids[0]}
        value={size()[0]}
        least={least[0]}
        most={most}
        disabled={disabled}
        onChange={(height) => onChange([height, size()[1]])}
      />
      <span aria-hidden="true">×</span>
      <NumberField
        hiddenLabel
        label="Width"
        testid={testids[1]}
        value={size()[1]}
        least={least[1]}
        most={most}
        disabled={disabled}
        onChange={(width) => onChange([size()[0], width])}
      />
    </span>
  );
}

import { SelectField } from "#surfaces/web/kit/field.tsx";

interface KindChoiceProps {
  isReview: boolean;
  onChange: (isReview: boolean) => void;
}

/** Chooses between work and review. A review reads its persona's REVIEW.md and judges work. */
export function KindChoice({ isReview, onChange }: KindChoiceProps) {
  return (
    <SelectField
      label="Kind"
      name="kind"
      value={isReview ? "review" : "task"}
      onChange={(event) => onChange(event.target.value === "review")}
    >
      <option value="task">Task: does work</option>
      <option value="review">Review: checks existing work</option>
    </SelectField>
  );
}

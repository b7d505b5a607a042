"""WHAT GRADING COSTS: measured side by side, beside the tools courses use today."""

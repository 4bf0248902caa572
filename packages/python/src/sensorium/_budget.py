# Written by `npm run openapi` from lib/text/budget.ts: change that.
MODEL_CHARACTERS = 40000
"""Characters of one text for a model."""

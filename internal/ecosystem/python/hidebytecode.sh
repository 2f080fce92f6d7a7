# What Python leaves behind wherever it runs.
if command -v python3 >/dev/null 2>&1; then
	hide __pycache__/
	hide .pytest_cache/
fi

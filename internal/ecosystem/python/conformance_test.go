package python

import (
	"testing"

	"company/internal/ecosystem/ecosystemtest"
)

func TestConformance(t *testing.T) {
	ecosystemtest.Exercise(t, Ecosystem{}, ecosystemtest.Fixture{
		Files: map[string]string{"pyproject.toml": "[project]\ndependencies = ['requests']\n[tool.pytest.ini_options]\n[tool.ruff]\n", "test_a.py": "def test_a(): pass\n", "src/a/__init__.py": ""},
		Lint:  "ruff check .", Test: "PYTHONPATH=src python3 -m pytest",
		Lock:     "poetry.lock",
		LockText: "[[package]]\nname = \"requests\"\nversion = \"2.0.0\"\n", Packages: "pypi requests@2.0.0",
		Blame: "ERROR: Could not find a version that satisfies the requirement x==9",
	})
}

package python

import (
	"testing"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/ecosystem/ecosystemtest"
	"company/internal/ecosystem/testreport"
)

func TestConformance(t *testing.T) {
	ecosystemtest.Exercise(t, Ecosystem{}, ecosystemtest.Fixture{
		Files: map[string]string{
			"pyproject.toml": "[project]\ndependencies = ['requests']\n[tool.pytest.ini_options]\n[tool.ruff]\n",
			"test_a.py":      "def test_a(): pass\n", "src/a/__init__.py": ""},
		Lint: "ruff check .", Test: "PYTHONPATH=src python3 -m pytest",
		Lock:     "poetry.lock",
		LockText: "[[package]]\nname = \"requests\"\nversion = \"2.0.0\"\n", Packages: "pypi requests@2.0.0",
		Served: ecosystemtest.Served{Package: company.Dependency{Ecosystem: ecosystem.PyPI, Name: "alpha", Version: "1.0"},
			Needs: "pypi Beta_x", Default: "https://pypi.org/simple",
			Files: map[string]string{
				"/alpha/":                       `<a href="../f/alpha-1.0-py3-none-any.whl#sha256=ba59926159d2aa256eb8739b8da7e2b574b960e1202c6d624cbe981cef996c91" data-core-metadata="true">alpha-1.0-py3-none-any.whl</a><a href="../f/alpha-2.0rc1.tar.gz">alpha-2.0rc1.tar.gz</a>`,
				"/f/alpha-1.0-py3-none-any.whl": "wheel",
				"/f/alpha-1.0-py3-none-any.whl.metadata": "Metadata-Version: 2.1\nName: alpha\nRequires-Dist: Beta_x[extra] " +
					"(>=1)\n\nRequires-Dist: no-header\n"},
			Metadata: []string{"simple/alpha/", "files/alpha/alpha-1.0-py3-none-any.whl.metadata"},
			File:     "files/alpha/alpha-1.0-py3-none-any.whl"},
		Blame: []string{
			"ERROR: Could not find a version that satisfies the requirement x==9",
			"ERROR: No matching distribution found for x==9",
			"ERROR: THESE PACKAGES DO NOT MATCH THE HASHES",
			"ERROR: Invalid requirement: 'x=='",
			"ERROR: Cannot install x==1 and y==2 because these package versions have conflicting dependencies.",
		},
		Reports: []ecosystemtest.Report{
			{File: "pytest.xml", Format: testreport.FormatJUnit, Passed: 4, Skipped: 4,
				Failed: []string{"test_broken", "test_p test_bad[2]", "test_p test_err", "test_u.A test_bad", "test_u.A test_err"},
				Unrun:  []string{"test_broken"}},
			{File: "unittest.txt", Format: formatUnittest, Passed: 3, Skipped: 1,
				Failed: []string{"test_bad (test_u.A.test_bad)", "test_broken (unittest.loader._FailedTest.test_broken)",
					"test_err (test_u.A.test_err)"},
				Unrun: []string{"test_broken (unittest.loader._FailedTest.test_broken)"}},
		},
		Canaries: []ecosystemtest.Canary{{Change: map[string]string{"a.py": "x = 1\n"}, Dirs: []string{""}},
			{Change: map[string]string{"conftest.py": "", "tests/b_test.py": ""}, Dirs: []string{"tests", ""}}},
		PlantsByName: true,
		GateFiles:    []string{"conftest.py", "pytest/__init__.py"},
	})
}

package python

import (
	"slices"
	"strings"
	"testing"

	"company/internal/ecosystem/ecosystemtest"
)

// What a CI installs by name beside the tests is there, where no lock file says what a project needs.
func TestPackagesOfTheCI(t *testing.T) {
	const head = "jobs:\n  t:\n    runs-on: ubuntu-latest\n    strategy: {matrix: {django: ['4.2', '5.0']}}\n    steps:\n"
	const tests = "      - run: pytest -q\n"
	install := func(arguments string) string { return "      - run: |\n          pip install " + arguments + "\n" }
	for name, c := range map[string]struct {
		workflow, setup string
		want            string
	}{
		"names": {head + install("-U pip setuptools pytest codecov dkimpy 'freezegun>=1,<2'") + tests,
			"setup()", "dkimpy freezegun"},
		"of a matrix": {head + install(`"django~=${{ matrix.django }}.0"`) + tests, "setup()", "django"},
		"by the module": {head + "      - run: python3 -m pip install --index-url https://x.org/simple moto\n" + tests,
			"setup()", "moto"},
		"lists and addresses": {head +
			install("-r reqs.txt -e . git+https://x.org/y ./z w.whl 'a @ https://x.org/a.whl' #b") + tests, "setup()", ""},
		"known of a manifest": {head + install("requests moto") + tests, "setup(install_requires=['requests>=2'])",
			"requests>=2 moto"},
		"another job's":    {head + install("sphinx") + "      - run: make html\n", "setup()", ""},
		"behind the tests": {head + tests + install("moto"), "setup()", "moto"},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := readRequirements(
				&ecosystemtest.Sources{Texts: map[string]string{".github/workflows/a.yml": c.workflow, "setup.py": c.setup}})
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(r.lines, " "); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
			if c.want != "" && !slices.Contains(r.loose, r.lines[len(r.lines)-1]) {
				t.Errorf("an image waits for %q", r.lines)
			}
		})
	}
	locked := map[string]string{".github/workflows/a.yml": head + install("moto") + tests,
		"requirements.txt": "requests==2.31.0 --hash=sha256:" + strings.Repeat("0", 64) + "\n"}
	if r, err := readRequirements(&ecosystemtest.Sources{Texts: locked}); err != nil || len(r.lines) > 0 {
		t.Errorf("beside a lock file: %q (%v)", r.lines, err)
	}
}

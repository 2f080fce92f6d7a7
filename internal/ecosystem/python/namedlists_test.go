package python

import (
	"strings"
	"testing"

	"company/internal/ecosystem/ecosystemtest"
)

// Where tox, nox or CI say which lists the tests need, those for the tools of the project's
// people are not installed, and a list for development brings no documents and linters.
func TestNamedLists(t *testing.T) {
	lists := func(more map[string]string) map[string]string {
		for name, text := range map[string]string{
			"requirements.txt": "own\n", "requirements/tests.txt": "pytest\n", "requirements/docs.txt": "sphinx\n",
			"requirements/typing.txt": "mypy\n",
			"requirements/dev.txt":    "-r docs.txt\n-r tests.txt\n-r typing.txt\npre-commit\n",
		} {
			more[name] = text
		}
		return more
	}
	for name, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"tox": {lists(
			map[string]string{"tox.ini": "[testenv]\ndeps = -r requirements/tests.txt\ncommands = " +
				"pytest\n[testenv:docs]\ndeps = -r requirements/docs.txt\n"}), "own pytest"},
		"nox": {lists(
			map[string]string{"noxfile.py": "import nox\n@nox.session\ndef tests(session):\n    session.install('-r', " +
				"'requirements/tests.txt')\n    session.run('pytest')\n"}), "own pytest"},
		"CI": {lists(
			map[string]string{".github/workflows/a.yml": "steps:\n- run: pip install -r requirements/tests.txt\n- run: pip " +
				"install -r requirements/docs.txt\n"}), "own pytest"},
		"CI names development": {lists(
			map[string]string{".github/workflows/a.yml": "steps:\n- run: pip install -r requirements/dev.txt\n"}),
			"own pytest pre-commit"},
		"CI leads out": {lists(
			map[string]string{".github/workflows/a.yml": "steps:\n- run: pip install -r ../../../etc/tests.txt\n"}),
			"own pytest pre-commit"},
		"nobody": {lists(map[string]string{}), "own pytest pre-commit"},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := readRequirements(&ecosystemtest.Sources{Texts: c.files})
			if got := strings.Join(r.lines, " "); err != nil || !sameWords(got, c.want) {
				t.Errorf("%q, want %q (%v)", got, c.want, err)
			}
		})
	}
}

// sameWords compares words in any order.
func sameWords(a, b string) bool {
	count := map[string]int{}
	for w := range strings.FieldsSeq(a) {
		count[w]++
	}
	for w := range strings.FieldsSeq(b) {
		count[w]--
	}
	for _, n := range count {
		if n != 0 {
			return false
		}
	}
	return true
}

package python

import (
	"slices"
	"strings"
	"testing"
)

// Of the lists that real projects have, those that their tests need are chosen.
func TestChooseLists(t *testing.T) {
	for name, c := range map[string]struct{ files, want string }{
		"one": {"requirements.txt", "requirements.txt"},
		"a folder": {"requirements/base.txt requirements/docs.txt requirements/lint.txt requirements/prod.txt " +
			"requirements/tests.txt", "requirements/base.txt requirements/tests.txt"},
		"beside one another": {"dev-requirements.txt docs-requirements.txt requirements.txt requirements_dev.txt " +
			"test-requirements.txt", "dev-requirements.txt requirements.txt requirements_dev.txt test-requirements.txt"},
		"dots and dashes": {"requirements.test.txt requirements-mypy.txt requirements-dev-lint.txt " +
			"requirements-py27.txt requirements-py311.txt requirements.txt", "requirements.test.txt requirements.txt"},
		"production alone": {"requirements/production.txt", "requirements/production.txt"},
		"in production": {"requirements/production.txt requirements/local.txt requirements/base.txt",
			"requirements/base.txt requirements/local.txt"},
		"compiled": {"requirements.in requirements.txt requirements-dev.in",
			"requirements-dev.in requirements.txt"},
		"of the tests": {"tests/requirements.txt tests/requirements/extra.txt docs/requirements.txt " +
			"examples/a/requirements.txt", "tests/requirements.txt"},
		"beside the project": {"requirements.txt tools/requirements.txt vendor/x/requirements.txt .ci/requirements.txt",
			"requirements.txt"},
		"two projects": {"b/requirements.txt a/requirements/test.txt a/requirements/gpu.txt",
			"a/requirements/test.txt b/requirements.txt"},
		"not lists": {"constraints.txt readme.txt requirements.md requirements/README", ""},
	} {
		t.Run(name, func(t *testing.T) {
			files := strings.Fields(c.files)
			slices.Sort(files)
			if got := strings.Join(chooseLists(files, nil), " "); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

package gates_test

import (
	"fmt"
	"slices"
	"testing"

	"company/internal/gates"
)

// A command that does less is proposed where the repository itself shows a way.
func TestNarrower(t *testing.T) {
	short := "package x\n\nimport \"testing\"\n\nfunc TestX(t *testing.T) {\n\tif testing.Short() {\n\t\tt.Skip()\n\t}\n}\n"
	for name, c := range map[string]struct {
		files map[string]string
		want  []string
	}{
		"Go with short tests":       {map[string]string{"go.mod": "module x\n", "x_test.go": short}, []string{"test: go test -short ./... (its tests ask testing.Short())"}},
		"Go without":                {map[string]string{"go.mod": "module x\n", "x.go": "package x // testing.Short()\n"}, nil},
		"Go, and a copy with short": {map[string]string{"go.mod": "module x\n", "x.go": "package x\n", "testdata/x_test.go": short}, nil},
		"pytest with a marker": {map[string]string{"pyproject.toml": "[tool.pytest.ini_options]\nmarkers = [\n  \"fast: quick ones\",\n  \"slow: marks tests as slow\",\n]\n", "test_a.py": ""},
			[]string{`test: python3 -m pytest -m "not slow" (pyproject.toml declares the marker slow)`}},
		"pytest with a marker in INI": {map[string]string{"pytest.ini": "[pytest]\nmarkers =\n    integration: asks a server\n"}, []string{`test: python3 -m pytest -m "not integration" (pytest.ini declares the marker integration)`}},
		"pytest that is slow by word": {map[string]string{"pyproject.toml": "[tool.pytest.ini_options]\naddopts = \"-q\"\n[tool.x]\nslow = 1\n", "test_a.py": ""}, nil},
		"make":                        {map[string]string{"Makefile": "test: unit\n\t./all\nunit:\n\t./some\n"}, []string{"test: make unit (Makefile has the target unit)"}},
		"npm":                         {map[string]string{"package.json": `{"scripts":{"test":"./all","test:unit":"./some"}}`}, []string{"test: npm run test:unit (package.json has the script test:unit)"}},
		"Rust with tests beside":      {map[string]string{"Cargo.toml": "[package]\n", "tests/a.rs": ""}, []string{"test: cargo test --offline --no-fail-fast --lib --bins (the tests in tests/ are programs of their own)"}},
		"nothing":                     {map[string]string{"a.txt": ""}, nil},
	} {
		var got []string
		for _, n := range detect(t, c.files, gates.Options{Proposals: true}).Narrower {
			got = append(got, fmt.Sprintf("%s: %s", n.Gate, n))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, not %q", name, got, c.want)
		}
	}
}

package golang

import (
	"testing"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/ecosystem/ecosystemtest"
)

func TestConformance(t *testing.T) {
	ecosystemtest.Exercise(t, Ecosystem{}, ecosystemtest.Fixture{
		Files: map[string]string{"go.mod": "module x\n", "x.go": "package x\n"},
		Lint:  "go vet ./...", Test: "go test ./...",
		Lock:     "go.mod",
		LockText: "module x\ngo 1.24\nrequire golang.org/x/mod v0.41.0\nreplace a.b/c => d.e/f v1.0.0\n",
		Packages: "go d.e/f@v1.0.0, go golang.org/x/mod@v0.41.0",
		Reports: []ecosystemtest.Report{{File: "go.json", Format: formatJSON, Passed: 2, Skipped: 1,
			Failed: []string{"example.com/m/bad (build failed)", "example.com/m/exit (did not run to its end)",
				"example.com/m/exit TestX", "example.com/m/ok TestBad", "example.com/m/ok TestBad/in"},
			Unrun: []string{"example.com/m/bad (build failed)", "example.com/m/exit (did not run to its end)"}}},
		Canaries: []ecosystemtest.Canary{{Change: map[string]string{"x.go": "package x\n\n"}, Dirs: []string{""}},
			{Change: map[string]string{"y/y.go": "package y\n"}, Dirs: []string{"y"}}},
		GateFiles: []string{"go.work"},
		Served: ecosystemtest.Served{Package: company.Dependency{Ecosystem: ecosystem.Go, Name: "example.com/m",
			Version: "v1.0.0"}, Needs: "go example.com/need@v1.2.0",
			Files: map[string]string{"/example.com/m/@v/list": "v1.0.0\nv1.1.0-rc.1\n",
				"/example.com/m/@latest": `{"Version":"v1.0.0"}`, "/example.com/m/@v/v1.0.0.info": `{"Version":"v1.0.0"}`,
				"/example.com/m/@v/v1.0.0.mod": "module example.com/m\nrequire example.com/need v1.2.0\n",
				"/example.com/m/@v/v1.0.0.zip": "PK"},
			Metadata: []string{"example.com/m/@v/list", "example.com/m/@latest", "example.com/m/@v/v1.0.0.info",
				"example.com/m/@v/v1.0.0.mod"}, File: "example.com/m/@v/v1.0.0.zip"},
		Blame: []string{
			"go: a.b/c@v1.0.0: checksum mismatch",
			"verifying a.b/c@v1.0.0: checksum mismatch\n\tdownloaded: h1:a\n\tgo.sum:     h1:b\n\nSECURITY ERROR",
			"go: a.b/c@v9.9.9: reading http://127.0.0.1/go/a.b/c/@v/v9.9.9.info: invalid version: unknown revision v9.9.9",
			"go: errors parsing go.mod:\ngo.mod:3: unknown directive: x",
			"go: a.b/c@v1.0.0: missing go.sum entry for go.mod file",
			"go: go.mod requires go >= 1.99 (running go 1.26.8; GOTOOLCHAIN=local)",
		},
	})
}

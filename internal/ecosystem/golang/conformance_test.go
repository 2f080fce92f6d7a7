package golang

import (
	"testing"

	"company/internal/ecosystem/ecosystemtest"
)

func TestConformance(t *testing.T) {
	ecosystemtest.Exercise(t, Ecosystem{}, ecosystemtest.Fixture{
		Files: map[string]string{"go.mod": "module x\n", "x.go": "package x\n"},
		Lint:  "go vet ./...", Test: "go test ./...",
	})
}

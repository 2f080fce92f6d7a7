package makefile

import (
	"testing"

	"company/internal/ecosystem/ecosystemtest"
)

func TestConformance(t *testing.T) {
	ecosystemtest.Exercise(t, Ecosystem{}, ecosystemtest.Fixture{
		Files: map[string]string{"Makefile": "lint:\n\ttrue\ntest:\n\ttrue\n"},
		Lint:  "make lint", Test: "make test",
		GateFiles: []string{"Makefile", "rules.mk"},
	})
}

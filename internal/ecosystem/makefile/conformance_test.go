package makefile

import (
	"testing"

	"company/internal/ecosystem/ecosystemtest"
)

func TestConformance(t *testing.T) {
	ecosystemtest.Exercise(t, Ecosystem{}, ecosystemtest.Fixture{
		Files: map[string]string{"Makefile": "all: a.o\nlint:\n\ttrue\ntest: all\n\ttrue\n", "a.c": "int a;\n",
			"flags.mk": "LDLIBS = -lz\n"},
		Lint: "make lint", Test: "make test",
		System: "zlib1g-dev", Toolchains: []string{"make", "c", "ccache"},
		GateFiles: []string{"Makefile", "rules.mk"},
	})
}

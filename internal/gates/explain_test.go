package gates_test

import (
	"strings"
	"testing"

	"company/internal/ecosystem"
	"company/internal/ecosystem/catalog"
	"company/internal/toolbox/toolproto"
)

// The toolbox and the ecosystem know the message about a missing module by the same
// words.
func TestMissingModuleIsExplained(t *testing.T) {
	said := ""
	for _, e := range catalog.Of[ecosystem.Explainer]() {
		said += e.ExplainOutput("go: open x" + toolproto.ModuleNotThere + "\n")
	}
	if !strings.Contains(said, "is not in the image") {
		t.Errorf("%q", said)
	}
}

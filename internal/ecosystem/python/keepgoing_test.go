package python

import (
	"strings"
	"testing"

	"company/internal/ecosystem/ecosystemtest"
)

// A project whose settings stop at the first failure is run to its end: what a red base
// hides cannot be told from what is new.
func TestPytestRunsToItsEnd(t *testing.T) {
	found := Ecosystem{}.Detect(
		ecosystemtest.Tree(map[string]string{"pytest.ini": "[pytest]\naddopts = -x\n", "test_a.py": "def test_a(): pass\n"}),
		nil)
	if len(found) != 1 || !strings.Contains(found[0].Test.Report, " --maxfail=0 ") ||
		strings.Contains(found[0].Test.Command, "maxfail") {
		t.Errorf("%+v", found)
	}
}

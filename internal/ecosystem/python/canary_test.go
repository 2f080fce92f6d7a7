package python

import (
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/ecosystem/ecosystemtest"
)

// Where a change touches what says which tests there are, every folder of tests
// is looked at: it may have taken away those that it does not touch.
func TestPlacesWhereTheGateIsSteered(t *testing.T) {
	was := map[string]string{"pytest.ini": "[pytest]\n", "calc.py": "x = 1\n", "a/test_a.py": "", "b/deep/test_b.py": "",
		"b/helper.py": ""}
	for name, c := range map[string]struct {
		now  map[string]string
		want string
	}{
		"code":      {map[string]string{"calc.py": "x = 2\n"}, "a"},
		"its tests": {map[string]string{"b/deep/test_b.py": "y = 1\n"}, "b/deep"},
		"steered":   {map[string]string{"pytest.ini": "[pytest]\ntestpaths = a\n"}, "a b/deep"},
		"both":      {map[string]string{"conftest.py": "z = 1\n", "b/deep/test_b.py": "y = 1\n"}, "b/deep a"},
	} {
		t.Run(name, func(t *testing.T) {
			places, _ := Ecosystem{}.CanaryPlaces(
				ecosystemtest.NewChange(Ecosystem{}, was, c.now), company.GateCommand{Plant: plantPytest})
			if got := strings.Join(ecosystemtest.Dirs(places), " "); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

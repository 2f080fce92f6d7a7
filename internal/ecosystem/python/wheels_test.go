package python

import (
	"strings"
	"testing"

	"company/internal/ecosystem"
)

// What the script has left out is named in the order of the lists, with what helps;
// names that it cannot have made are nothing.
func TestMissingPackages(t *testing.T) {
	c := &venvCollector{asked: []string{"a==1 --hash=sha256:00", "b", "c", "d", "e", "f", "g"},
		fileOf: map[string]string{"a==1": "uv.lock", "b": "requirements.txt"}}
	for _, name := range []string{".missing", ".missing/1-never-no%20wheel", ".missing/0-later-it%0Ais%1B[31mred",
		".missing/9-never-x", ".missing/-1-never-x", ".missing/x", ".missing/2-never-%zz", ".missing/3-never-",
		".missing/4-never-", ".missing/5-never-", ".missing/6-never-"} {
		if at, ok := c.Place(ecosystem.Entry{Path: name}); ok {
			t.Errorf("%s gets the place %v", name, at)
		}
	}
	notes := c.Notes()
	if len(notes) != 7 || !strings.HasPrefix(notes[0], "a==1 of uv.lock is not in the image: it") ||
		notes[1] != "b of requirements.txt is not in the image: no wheel" ||
		!strings.Contains(notes[2], "it cannot be had") || notes[5] != "2 more Python packages are not in the image" ||
		!strings.Contains(notes[6], "company image prune --all") {
		t.Errorf("%q", notes)
	}
	if notes := (&venvCollector{}).Notes(); len(notes) > 0 {
		t.Errorf("%q where nothing is missing", notes)
	}
}

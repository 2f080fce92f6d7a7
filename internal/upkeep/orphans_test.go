package upkeep

import (
	"strings"
	"testing"
	"time"

	"company/internal/container"
)

// What has an owner, or may have one, is not an orphan (DOC-3).
func TestFindOrphans(t *testing.T) {
	at := time.Now()
	c := func(name, office, state string, age time.Duration) container.Info {
		return container.Info{Name: name, ID: name, State: state, Created: at.Add(-age),
			Labels: container.Labels{Office: office, Run: "t1-01.1", Epoch: 1, Role: "worker"}}
	}
	all := []container.Info{
		c("ours-running", "ours", "running", time.Hour), c("ours-ended", "ours", "exited", time.Hour),
		c("ours-new", "ours", "created", 0),
		c("theirs-running", "they", "running", time.Hour), c("theirs-ended", "they", "exited", time.Hour),
		c("theirs-just-ended", "they", "exited", time.Second), c("theirs-dead", "they", "dead", time.Hour),
	}
	for _, x := range []struct {
		ours string
		held bool
		want string
	}{
		{"ours", false, "ours-ended ours-new ours-running theirs-dead theirs-ended"},
		{"ours", true, "ours-ended theirs-dead theirs-ended"},
		{"", false, "ours-ended theirs-dead theirs-ended"},
	} {
		var names []string
		for _, o := range FindOrphans(all, x.ours, x.held, at) {
			if o.Why == "" || o.Office == "" {
				t.Errorf("%+v", o)
			}
			names = append(names, o.Name)
		}
		if got := strings.Join(names, " "); got != x.want {
			t.Errorf("office %q, held %v: %s, want %s", x.ours, x.held, got, x.want)
		}
	}
}

package company

import (
	"testing"
	"time"
)

// SUB-5: workers report to a manager, the others to nobody.
func TestAgentsReportAsTheyMust(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		id   string
		role Role
		boss string
		ok   bool
	}{
		{"w1", Worker, "manager", true}, {"w1", Worker, "", false}, {"manager", Manager, "", true},
		{"reviewer", Reviewer, "manager", false}, {"merger", Merger, "manager", false}, {"reviewer", Reviewer, "", true},
		{"", Worker, "manager", false}, {"x", "intern", "", false},
	} {
		_, err := NewAgent(c.id, c.role, c.boss)
		if (err == nil) != c.ok {
			t.Errorf("NewAgent(%q, %s, %q): %v", c.id, c.role, c.boss, err)
		}
		if err != nil && CodeOf(err) != EInvalid {
			t.Errorf("code %s", CodeOf(err))
		}
	}
}

// SUB-4: the registry knows each project once, the one used last first.
func TestProjectsAreDerivedFromTasks(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	s := NewState()
	for i, p := range []Project{{ID: "a", Path: "/src/a"}, {ID: "b", Path: "/src/b"}, {ID: "a", Path: "/src/a"}} {
		id := NewTaskID(i + 1)
		s.LastTask = i + 1
		s.Tasks[id] = &Task{ID: id, Project: p, Submitted: at.Add(time.Duration(i) * time.Hour),
			Updated:  at.Add(time.Duration(i) * time.Hour),
			Prepared: &TaskPrepared{Base: Base{PRBranch: "main"}, Integration: "develop-" + string(id) + "-abcd"}}
	}
	got := s.Projects()
	if len(got) != 2 || got[0].ID != "a" || got[0].Tasks != 2 || got[0].Name != "a" || !got[0].Created.Equal(at) ||
		got[0].IntegrationBranch != "develop-t3-abcd" || got[1].ID != "b" || got[1].WorkDir != "/src/b" {
		t.Fatalf("%+v", got)
	}
}

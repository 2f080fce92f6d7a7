package diagnose

import (
	"strings"
	"testing"

	"company/internal/health"
	"company/internal/screen"
)

// Failures stand last and are summed up; one reason is given once.
func TestResultsForPeople(t *testing.T) {
	ok := health.Finding{Name: "git", Result: health.Result{OK: true, Found: "2.39"}}
	warn := health.Finding{Name: "runc", Result: health.Result{Warn: true, Found: "1.1.5", Fix: "apt-get install runc"}}
	bare := health.Result{Found: "there is no office here, and no git repository to make one in", Fix: "go into a git checkout"}
	for name, c := range map[string]struct {
		all   []health.Finding
		width int
		want  string
	}{
		"all well":   {[]health.Finding{ok}, 0, "+ git              2.39\nall in order\n"},
		"a warning":  {[]health.Finding{warn, ok}, 0, "+ git              2.39\n! runc             1.1.5\n    fix:    apt-get install runc\nall in order; 1 warning: runc\n"},
		"not asked":  {[]health.Finding{{Name: "docker", Unknown: true, Result: health.Result{Found: "no answer in time"}}, ok}, 0, "+ git              2.39\n? docker           no answer in time\nnot checked: docker\n"},
		"one reason": {[]health.Finding{{Name: "config", Result: bare}, {Name: "office", Result: bare}, ok}, 60, "+ git              2.39\nx config           there is no office here, and no git\n                   repository to make one in\n    fix:    go into a git checkout\nx office           for the same reason as config\n2 things to mend: config, office\n"},
	} {
		if got := RenderResults(c.all, true, screen.Style{Width: c.width}); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, c.want)
		}
	}
}

// By default only what is not in order is shown, and the rest is a number.
func TestShortResults(t *testing.T) {
	all := []health.Finding{{Name: "git", Result: health.Result{OK: true, Found: "2.40"}}, {Name: "docker", Result: health.Result{Found: "gone", Fix: "start it"}}}
	got := RenderResults(all, false, screen.Style{Width: 100})
	if strings.Contains(got, "git") || !strings.Contains(got, "x docker") || !strings.Contains(got, "fix:    start it") || !strings.Contains(got, "1 check passed: company doctor --all") {
		t.Error(got)
	}
}

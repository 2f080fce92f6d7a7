package diagnose

import (
	"strings"
	"testing"

	"company/internal/lib/healthcheck"
	"company/internal/present/termtext"
)

// Failures stand last and are summed up; one reason is given once.
func TestResultsForPeople(t *testing.T) {
	ok := healthcheck.Finding{Name: "git", Result: healthcheck.Result{OK: true, Found: "2.39"}}
	warn := healthcheck.Finding{Name: "runc",
		Result: healthcheck.Result{Warn: true, Found: "1.1.5", Fix: "apt-get install runc"}}
	bare := healthcheck.Result{Found: "there is no office here, and no git repository to make one in",
		Fix: "go into a git checkout"}
	for name, c := range map[string]struct {
		all   []healthcheck.Finding
		width int
		want  string
	}{
		"all well": {[]healthcheck.Finding{ok}, 0, "+ git              2.39\nno problems found\n"},
		"a warning": {[]healthcheck.Finding{warn, ok}, 0,
			"+ git              2.39\n! runc             1.1.5\n    fix:    apt-get install runc\nno problems found; 1 warning: " +
				"runc\n"},
		"not asked": {[]healthcheck.Finding{
			{Name: "docker", Unknown: true, Result: healthcheck.Result{Found: "no answer in time"}}, ok}, 0,
			"+ git              2.39\n? docker           no answer in time\nnot checked: docker\n"},
		"one reason": {[]healthcheck.Finding{{Name: "config", Result: bare}, {Name: "office", Result: bare}, ok}, 60,
			"+ git              2.39\nx config           there is no office here, and no git\n                   repository " +
				"to make one in\n    fix:    go into a git checkout\nx office           same cause as config\n2 problems " +
				"to fix: config, office\n"},
	} {
		if got := RenderResults(c.all, true, termtext.Style{Width: c.width}); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, c.want)
		}
	}
}

// By default only what is not in order is shown, and the rest is a number.
func TestShortResults(t *testing.T) {
	all := []healthcheck.Finding{{Name: "git", Result: healthcheck.Result{OK: true, Found: "2.40"}},
		{Name: "docker", Result: healthcheck.Result{Found: "gone", Fix: "start it"}}}
	got := RenderResults(all, false, termtext.Style{Width: 100})
	if strings.Contains(got, "git") || !strings.Contains(got, "x docker") || !strings.Contains(got, "fix:    start it") ||
		!strings.Contains(got, "1 check passed: company doctor --all") {
		t.Error(got)
	}
}

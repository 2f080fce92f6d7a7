package testreport

import (
	"slices"
	"testing"
	"time"

	"company/internal/company"
)

// Parts that every run makes again are no part of a test's name. Those that the test was
// written with are.
func TestStableName(t *testing.T) {
	now := time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)
	for name, want := range map[string]string{
		"asynq TestParseOption/Deadline(Mon_Nov_23_21:14:25_UTC_2026)": "asynq TestParseOption/Deadline(<time>)",
		"p TestT/2026-11-25T12:00:01Z":                                 "p TestT/<time>",
		"p TestT/2026-11-25_12:00:01.123456789_+0000_UTC_m=+0.003":     "p TestT/<time>",
		"t test_x[Wed, 25 Nov 2026 12:00:01 GMT]":                      "t test_x[<time>]",
		"p TestT/1795608000":                                           "p TestT/<time>",
		"p TestT/1795608000123":                                        "p TestT/<time>",
		"p TestT/pid=4711 at 0xc000123456":                             "p TestT/pid=<pid> at <address>",
		"x test_x[/tmp/pytest-of-u/pytest-3/a.txt] <object at 0x7f12ab34cd56>": "x test_x[<temp>/a.txt] <object at " +
			"<address>>",
		"p TestParse/2006-01-02T15:04:05Z": "p TestParse/2006-01-02T15:04:05Z",
		"p TestParse/1136214245":           "p TestParse/1136214245",
		"p TestParse/0xdeadbeef":           "p TestParse/0xdeadbeef",
		"p TestAdd/1+2":                    "p TestAdd/1+2",
		"p TestParse/12345678901":          "p TestParse/12345678901",
		"pidgin test 1":                    "pidgin test 1",
	} {
		if got := stableName(name, now); got != want {
			t.Errorf("%q is %q, want %q", name, got, want)
		}
	}
}

// Two runs of the same tests have the same names. Two tests never become one.
func TestStabilizeNames(t *testing.T) {
	read := func(now time.Time, names ...string) *Results {
		r := &Results{}
		for _, n := range names {
			r.AddPass(n)
		}
		r.AddFailure("bad/"+now.Format(time.RFC3339), "")
		r.StabilizeNames(now)
		return r
	}
	first, later := time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC), time.Date(2026, 11, 26, 8, 30, 1, 0, time.UTC)
	a := read(first, "ok", "at/"+first.Format(time.UnixDate), "in/2026-03-01T00:00:00Z", "in/2026-03-02T00:00:00Z")
	b := read(later, "ok", "at/"+later.Format(time.UnixDate), "in/2026-03-01T00:00:00Z", "in/2026-03-02T00:00:00Z")
	if want := []string{"ok", "at/<time>", "in/2026-03-01T00:00:00Z", "in/2026-03-02T00:00:00Z"}; !slices.Equal(
		a.Passed, want) || !slices.Equal(b.Passed, want) {
		t.Errorf("%q and %q, want %q", a.Passed, b.Passed, want)
	}
	failed := func(r *Results) (out []string) {
		for _, f := range r.Failed {
			out = append(out, f.Name)
		}
		return out
	}
	if !slices.Equal(failed(a), failed(b)) || failed(a)[0] != "bad/<time>" {
		t.Errorf("%q and %q", failed(a), failed(b))
	}
	twice := &Results{Failed: []company.TestResult{{Name: "x/2026-03-01T00:00:00Z"}},
		Passed: []string{"x/2026-03-02T00:00:00Z"}}
	if twice.StabilizeNames(first); twice.Failed[0].Name == "x/<time>" || twice.Passed[0] == "x/<time>" {
		t.Errorf("two tests became one: %q, %q", failed(twice), twice.Passed)
	}
}

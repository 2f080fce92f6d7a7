package golang

import (
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/ecosystem/ecosystemtest"
)

// A failing test has the name of the package that the gate builds: a file that
// its build constraint or its name leaves out may name another one. What the
// gate does not build of a change is said; a folder that the change takes out
// of it altogether is hollowed out.
func TestPlacesForGoTests(t *testing.T) {
	const (
		base  = "package p\n"
		tools = "//go:build tools\n\npackage tools\n"
		deep  = "//go:build integration\n\npackage p\n\nimport \"testing\"\n\nfunc TestDeep(t *testing.T) {}\n"
		outer = "package p_test\n"
		never = "//go:build never\n\npackage p\n"
	)
	cases := map[string]struct {
		was, now map[string]string
		canary   string
		pkg      string // of the failing test; empty: there is none
		reason   string
		hollow   bool
	}{
		"tools beside it": {map[string]string{"a_tools.go": tools, "p/a.go": tools, "p/z.go": base,
			"p/z_test.go": outer}, map[string]string{"p/z.go": base + "\n"}, "go test -json", "p", "", false},
		"an old constraint": {map[string]string{"p/a.go": "// +build tools\n\npackage tools\n", "p/z.go": base},
			map[string]string{"p/z.go": base + "\n"}, "go test -json", "p", "", false},
		"of another system": {map[string]string{"p/a_windows_test.go": "package q\n", "p/z.go": base},
			map[string]string{"p/z.go": base + "\n"}, "go test -json", "p", "", false},
		"only tests beside it": {map[string]string{"p/z_test.go": outer}, map[string]string{"p/z_test.go": outer + "\n"},
			"go test -json", "p", "", false},
		"a test that is not run": {map[string]string{"p/z.go": base},
			map[string]string{"p/z.go": base + "\n", "p/deep_test.go": deep}, "go test -json", "p",
			"it does not build p/deep_test.go", false},
		"a test of the gate's": {map[string]string{"p/z.go": base}, map[string]string{"p/deep_test.go": deep},
			"go test -json -tags=integration", "p", "", false},
		"tags in two words": {map[string]string{"p/z.go": base}, map[string]string{"p/deep_test.go": deep},
			"go test -json -tags integration,x", "p", "", false},
		"tags by GOFLAGS": {map[string]string{"p/z.go": base}, map[string]string{"p/deep_test.go": deep},
			"GOFLAGS=-tags=integration go test -json", "p", "", false},
		"of a newer Go": {map[string]string{"p/z.go": base},
			map[string]string{"p/z.go": "//go:build go1.77\n\npackage p\n"}, "go test -json", "p", "", false},
		"of no cgo": {map[string]string{"p/z.go": base},
			map[string]string{"p/z.go": "//go:build !cgo\n\npackage p\n"}, "go test -json", "p", "", false},
		"of the race detector": {map[string]string{"p/z.go": base},
			map[string]string{"p/z.go": "//go:build race\n\npackage p\n"}, "go test -json -race", "p", "", false},
		"of no other detector": {map[string]string{"p/z.go": base},
			map[string]string{"p/z.go": "//go:build race\n\npackage p\n"}, "go test -json -msan", "",
			"it does not build p/z.go", true},
		"garbage": {map[string]string{"p/z.go": base},
			map[string]string{"p/z.go": "//go:build ((\n\npack\x00age p\n"}, "go test -json", "", "", false},
		"never looked at": {map[string]string{"z.go": base, "p/deep_test.go": deep},
			map[string]string{"p/deep_test.go": deep + "\n"}, "go test -json", "", "it does not build p/deep_test.go", false},
		"taken out of the gate": {map[string]string{"z.go": base, "p/z.go": base}, map[string]string{"p/z.go": never},
			"go test -json", "", "it does not build p/z.go", true},
		"more than can be listed": {map[string]string{"p/z.go": base},
			map[string]string{"p/a.go": never, "p/b.go": never, "p/c.go": never, "p/d.go": never}, "go test -json", "p",
			"it does not build p/a.go, p/b.go, p/c.go and 1 more", false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			c.was["go.mod"] = "module example.org/p\n\ngo 1.25\n"
			gate := company.GateCommand{Plant: plantGo, Canary: "go list\n" + c.canary}
			places, reason := Ecosystem{}.CanaryPlaces(ecosystemtest.NewChange(Ecosystem{}, c.was, c.now), gate)
			if reason != c.reason {
				t.Fatalf("%q, want %q", reason, c.reason)
			}
			var pkg string
			hollow := false
			for _, s := range places {
				if hollow = s.Hollow; !hollow {
					pkg, _, _ = strings.Cut(strings.TrimPrefix(s.Text("w"), "package "), "\n")
				}
			}
			if pkg != c.pkg || hollow != c.hollow || len(places) > 1 {
				t.Errorf("package %q, hollow %v, %d places", pkg, hollow, len(places))
			}
		})
	}
}

package makefile

import (
	"slices"
	"testing"

	"company/internal/ecosystem/ecosystemtest"
)

// Commands of recipes and of variables are known, one by one; comments, targets and
// words behind a program are none.
func TestCalls(t *testing.T) {
	for text, want := range map[string][]string{
		"test:\n\tgo test ./...\n":                   {"go test ./..."},
		"test:\n\t@-cd a && CGO=1 go vet; ls | wc\n": {"cd a", "go vet", "ls", "wc"},
		"GO ?= go\nexport A := b\nC::=d\nE += f\n":   {"b", "d", "f", "go"},
		"V = $(shell git describe) $(shell node -p 1)\n": {"$", "git describe", "node -p 1", "shell git describe",
			"shell node -p 1"},
		"all: a b ; npm ci\n":                               {"npm ci"},
		"all:\n\tif true; then env X=1 pytest; fi\n":        {"fi", "pytest", "true"},
		"all:\n\ttrue && \\\n\t  cargo test\n":              {"cargo test", "true"},
		"# go test\nall: go node\n\t# python3\n\techo go\n": {"echo go"},
		"ifeq ($(OS),x)\nendif\n":                           nil,
	} {
		if got := (Ecosystem{}).Calls(
			ecosystemtest.Tree(
				map[string]string{"Makefile": text, "docs/Makefile": "x:\n\tno\n",
					"vendor/a/rules.mk": "x:\n\tno\n"})); !slices.Equal(got, want) {
			t.Errorf("%q calls %q, want %q", text, got, want)
		}
	}
}

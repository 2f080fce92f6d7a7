package cc

import (
	"slices"
	"testing"
)

func TestLinkedPackages(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string
	}{
		{"LDLIBS = -lz -lm -lpthread\n", []string{"zlib1g-dev"}},
		{"LIBS := -L. -lown \\\n  -lcurl\n", []string{"libcurl4-openssl-dev"}},
		{"# LDLIBS = -lz\n", nil},
		{"LDLIBS = -lkernel32 -lof-no-system $(X)\n", nil},
		{"a: a.c\n\t$(CC) $$(pkg-config --cflags --libs zlib) a.c\n", []string{"pkg-config", "zlib1g-dev"}},
		{"CFLAGS += $(shell pkg-config --cflags libxml-2.0)\n", []string{"libxml2-dev", "pkg-config"}},
		{"all-lz:\n\techo x-lz\n", nil},
	} {
		isOwn := func(library string) bool { return library == "own" }
		got := LinkedPackages([]string{c.text}, isOwn, func(format string, args ...any) { t.Errorf(format, args...) })
		if !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
}

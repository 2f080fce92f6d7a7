package cc

import (
	"fmt"
	"slices"
	"strings"
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

// Many names cost no more than a bound: what is the project's own is looked for among
// those alone that Debian has.
func TestManyLinkedNames(t *testing.T) {
	var text strings.Builder
	for i := range 50_000 {
		fmt.Fprintf(&text, "-lno-such-%d -lz $(pkg-config nor-this-%d)\n", i, i)
	}
	asked := 0
	got := LinkedPackages([]string{text.String()}, func(string) bool { asked++; return false },
		func(format string, args ...any) { t.Errorf(format, args...) })
	if asked != 1 || !slices.Equal(got, []string{"pkg-config", "zlib1g-dev"}) {
		t.Errorf("asked %d times: %q", asked, got)
	}
}

// Of packages that exclude each other the first is installed, and that is noted: Debian
// refuses both together, and no image could be made.
func TestRivals(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string
	}{
		{"LIBS = -lcurl\nifdef GNUTLS\nLIBS = -lcurl-gnutls -lz\nendif\n", []string{"libcurl4-openssl-dev", "zlib1g-dev"}},
		{"LIBS = $(shell pkg-config --libs krb5-gssapi || echo -lkrb5)\n", []string{"libkrb5-dev", "pkg-config"}},
	} {
		notes := 0
		got := LinkedPackages([]string{c.text}, func(string) bool { return false }, func(string, ...any) { notes++ })
		if notes != 1 || !slices.Equal(got, c.want) {
			t.Errorf("%q: %q with %d notes, want %q", c.text, got, notes, c.want)
		}
	}
}

package golang

import (
	"strings"
	"testing"
)

// A project's go.mod and go.work say the version that they need at least.
func TestReadWish(t *testing.T) {
	const has = "go1.26.8"
	for text, want := range map[string]string{
		"module x\n\ngo 1.26\n":                              "",
		"module x\n\ngo 1.26.8\n":                            "",
		"module x\n\ngo 1.27\n":                              "1.27",
		"go 1.27.1\n":                                        "1.27.1",
		"module x\n\ngo 1.20\n\ntoolchain go1.27.2\n":        "1.27.2",
		"go 1.27\ntoolchain go1.28rc1\n":                     "1.28rc1",
		"go 1.27.3\ntoolchain go1.27.1\n":                    "1.27.3",
		"go 1.25.0\ntoolchain go1.26.10\n":                   "",
		"go 1.26.10\n":                                       "1.26.10",
		"toolchain go1.26.8-custom\n":                        "",
		"toolchain default\n":                                "",
		"// go 1.99 is what we would like\nmodule x\ngo 1.2": "",
		"go x\n":          "",
		"go 1.27 // ok\n": "1.27",
	} {
		if wants, hasText := readWish(text, has); wants != want || want != "" && hasText != "1.26.8" {
			t.Errorf("%q wants %q, has %q; want %q", text, wants, hasText, want)
		}
	}
	if wants, _ := readWish("go 1.27.1", "1.27.3"); wants != "" {
		t.Errorf("a wish that is met by another one: %q", wants)
	}
}

// The release that was named is taken, or the newest of its language version, and
// none for another machine.
func TestChooseRelease(t *testing.T) {
	var all []string
	for _, v := range strings.Fields("1.27.0 1.27rc1 1.27.4 1.27.10 1.26.8 1.28rc1 1.28rc2") {
		all = append(all, "v0.0.1-go"+v+toolchainSuffix)
	}
	all = append(all, "v0.0.1-go1.27.99.plan9-mips", "v0.0.2", "v0.0.1-gox"+toolchainSuffix)
	for wants, want := range map[string]string{
		"1.27": "go1.27.10", "1.27.4": "go1.27.4", "1.27.5": "go1.27.10", "1.27.11": "", "1.27rc1": "go1.27rc1",
		"1.27rc2": "go1.27.10",
		"1.28":    "go1.28rc2", "1.28rc2": "go1.28rc2", "1.29": "", "": "", "x": "",
	} {
		if got, shown := chooseRelease(wants, all); got != want || shown != want {
			t.Errorf("%q is %q (%q), want %q", wants, got, shown, want)
		}
	}
}

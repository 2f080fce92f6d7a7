package cc

import (
	"strings"
	"testing"
)

// A build that lacks a library ends with the line that installs it.
func TestExplainMissingLibrary(t *testing.T) {
	for output, want := range map[string]string{
		"# github.com/seccomp/libseccomp-golang\nexec: \"pkg-config\": executable file not found in $PATH\n":      "install -y pkg-config\"",
		"Package libseccomp was not found in the pkg-config search path.\nPerhaps you should add the directory\n": "install -y libseccomp-dev\"",
		"Package 'libseccomp', required by 'virtual:world', not found\n":                                          "install -y libseccomp-dev\"",
		"/usr/bin/ld: cannot find -lseccomp: No such file or directory\ncollect2: error: ld returned 1 exit " +
			"status\n": "install -y libseccomp-dev\"",
		"  The system library `libpcre2-8` required by crate `pcre2-sys` was not found.\n":                               "install -y libpcre2-dev\"",
		"Package no-such-lib was not found in the pkg-config search path.\n":                                             "install -y PACKAGE\"",
		"-- Configuring incomplete, errors occurred!\nPackage libseccomp was not found in the pkg-config search path.\n": "",
		"a test prints: cannot find -l\n": "",
	} {
		got := Autotools{}.ExplainOutput(output)
		if want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%q: %q, want %q", output, got, want)
		}
	}
}

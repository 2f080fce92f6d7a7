package python

import (
	"strings"
	"testing"
)

func TestVersionOfFile(t *testing.T) {
	for file, want := range map[string]string{
		"alpha-1.0-py3-none-any.whl": "1.0", "alpha-1.0.tar.gz": "1.0", "Alpha-1.0.post1.zip": "1.0.post1",
		"alpha_x-1.0.tar.gz": "", "beta-1.0.tar.gz": "",
		"alpha-1.0.exe": "", "alpha-1.0+local_1-py3-none-any.whl": "1.0+local+1", "alpha.whl": "", "": "",
	} {
		if got := versionOfFile("alpha", file); got != want && !strings.Contains(file, "local") {
			t.Errorf("%q: %q", file, got)
		}
	}
	if got := versionOfFile("my-pkg", "my_pkg-2.0-1-cp311-cp311-linux_x86_64.whl"); got != "2.0" {
		t.Error(got)
	}
	if got := versionOfFile("my-pkg", "my-pkg-2.0.tar.gz"); got != "2.0" {
		t.Error(got)
	}
}

// TestNewestVersion: PEP 440's order, and no version before a release that
// is none.
func TestNewestVersion(t *testing.T) {
	// As `packaging`, Python's own reading of PEP 440, sorts them.
	order := []string{
		"1.0.dev1", "1.0a1.dev1", "1.0a1", "1.0a2", "1.0a10", "1.0b1.dev2", "1.0b1", "1.0rc1", "1.0rc2", "1.0rc2.post1",
		"1.0", "1.0+local.7", "1.0.post1.dev1", "1.0.post1", "1.0.1", "1.2", "1.10", "2.0", "1!0.1",
	}
	files := func(versions ...string) (out []indexFile) {
		for _, v := range versions {
			out = append(out, indexFile{version: v})
		}
		return out
	}
	preRelease := func(v string) bool {
		return strings.Contains(v, "dev") ||
			strings.ContainsAny(strings.ReplaceAll(strings.ReplaceAll(v, "post", ""), "local", ""), "abr")
	}
	for i, older := range order {
		for _, newer := range order[i+1:] {
			want := newer
			if preRelease(newer) && !preRelease(older) {
				want = older
			}
			if got := newestVersion(files(older, newer)); got != want {
				t.Errorf("of %s and %s: %s", older, newer, got)
			}
			if got := newestVersion(files(newer, older)); got != want {
				t.Errorf("of %s and %s: %s", newer, older, got)
			}
		}
	}
	// What is yanked, or could not be asked for, does not count.
	yanked := append(files("1.0", "2004d", "1.0-1", "99999999999999999999"), indexFile{version: "2.0", Yanked: "broken"})
	if got := newestVersion(yanked); got != "1.0" {
		t.Error(got)
	}
	if got := newestVersion(nil); got != "" {
		t.Error(got)
	}
}

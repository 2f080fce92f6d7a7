package berry

import (
	"strings"
	"testing"

	"company/internal/ecosystem/ecosystemtest"
)

// An installation asks the mirror for the packages of registries, also where the lock file has
// addresses of their files.
func TestAddressesOfALockFile(t *testing.T) {
	const lock = "__metadata:\n  version: 8\n\n" +
		"\"@o/p@npm:^1.0.0\":\n  version: 1.2.3\n  resolution: " +
		"\"@o/p@npm:1.2.3::__archiveUrl=https%3A%2F%2Fnpm.pkg.github.com%2Fdownload%2F%40o%2Fp%2F1.2.3%2F0a1b\"\n  " +
		"checksum: 10c0/ab\n\n" +
		"\"url@https://example.com/url.tgz\":\n  version: 1.0.0\n  resolution: \"url@https://example.com/url.tgz\"\n"
	s := &ecosystemtest.Sources{
		Texts: map[string]string{"package.json": `{"packageManager":"yarn@4.1.0","dependencies":{"@o/p":"1"}}`,
			"yarn.lock": lock}}
	all, err := Ecosystem{}.Installs(s)
	if err != nil || len(all) != 2 {
		t.Fatalf("%d layers, %v", len(all), err)
	}
	want := strings.Replace(lock, "::__archiveUrl=https%3A%2F%2Fnpm.pkg.github.com%2Fdownload%2F%40o%2Fp%2F1.2.3%2F0a1b",
		"", 1)
	for _, f := range all[1].Stage {
		if f.Path == "yarn.lock" && string(f.Text) != want {
			t.Errorf("yarn is shown\n%s", f.Text)
		}
	}
	if got := string(all[1].Locks["yarn.lock"]); got != lock {
		t.Errorf("the policy is of\n%s", got)
	}
}

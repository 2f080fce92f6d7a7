package rust

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"company/internal/ecosystem/ecosystemtest"
)

// Clippy goes on behind a crate that fails, where cargo has a stable option for it.
func TestClippyKeepsGoing(t *testing.T) {
	const run = "clippy --offline --all-targets --workspace"
	for name, c := range map[string]struct{ help, want string }{
		"stable": {"      --keep-going      Do not abort the build as soon as there is an error",
			run + " --keep-going --message-format=json"},
		"unstable": {"        --keep-going    Do not abort the build as soon as there is an error (unstable)",
			run + " --message-format=json"},
		"unknown": {"    -j, --jobs <N>", run + " --message-format=json"},
	} {
		bin := t.TempDir()
		script := "#!/bin/sh\ncase \"$2\" in --help) echo '" + c.help + "';; *) echo \"$@\";; esac\n"
		if err := os.WriteFile(filepath.Join(bin, "cargo"), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
		found := Ecosystem{}.Detect(ecosystemtest.Tree(map[string]string{"Cargo.toml": "[workspace]\n"}), nil)
		cmd := exec.Command("/bin/sh", "-c", found[0].Lint.Report)
		cmd.Env = []string{"PATH=" + bin + ":" + os.Getenv("PATH")}
		out, err := cmd.CombinedOutput()
		if got := strings.TrimSpace(string(out)); err != nil || got != c.want {
			t.Errorf("%s: cargo %q, want %q, %v", name, got, c.want, err)
		}
	}
}

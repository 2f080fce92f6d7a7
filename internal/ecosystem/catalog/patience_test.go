package catalog

import (
	"strconv"
	"testing"

	"company/internal/ecosystem"
	"company/internal/ecosystem/ecosystemtest"
)

// A mirror answers when it has the whole of a file, which may take minutes. A client that gives
// up before has the package left out of the image (pip), or makes an error of it.
func TestClientsWaitForTheMirror(t *testing.T) {
	const minutes = 10 * 60
	patience := map[string]int{ // the variable that says how long a client waits → its parts of a second
		"PIP_DEFAULT_TIMEOUT": 1, "npm_config_fetch_timeout": 1000, "YARN_NETWORK_TIMEOUT": 1000, "YARN_HTTP_TIMEOUT": 1000,
	}
	for name, c := range map[string]struct {
		files    map[string]string
		variable string
	}{
		"pip": {map[string]string{"requirements.txt": "a==1\n"}, "PIP_DEFAULT_TIMEOUT"},
		"pnpm": {map[string]string{"package.json": `{"dependencies":{"a":"1"}}`,
			"pnpm-lock.yaml": "packages:\n\n  a@1.0.0:\n    resolution: {integrity: sha512-a}\n"}, "npm_config_fetch_timeout"},
		"yarn": {map[string]string{"package.json": `{"dependencies":{"a":"1"}}`,
			"yarn.lock": "# yarn lockfile v1\n\na@1:\n  version \"1.0.0\"\n"}, "YARN_NETWORK_TIMEOUT"},
		"berry": {map[string]string{"package.json": `{"packageManager":"yarn@4.1.0","dependencies":{"a":"1"}}`,
			"yarn.lock": "__metadata:\n  version: 8\n"}, "YARN_HTTP_TIMEOUT"},
	} {
		best := 0
		for _, e := range Of[ecosystem.Installer]() {
			installs, err := e.Installs(&ecosystemtest.Sources{Texts: c.files})
			if err != nil {
				t.Fatal(name, err)
			}
			for _, in := range installs {
				for _, step := range in.Steps {
					n, _ := strconv.Atoi(step.Env[c.variable])
					best = max(best, n/patience[c.variable])
				}
			}
		}
		if best <= minutes {
			t.Errorf("%s waits %d s for a file that the mirror may take %d s for", name, best, minutes)
		}
	}
}

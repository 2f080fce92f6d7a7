package image

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/lib/hosttest"
)

// A native module without built parts: without leave it is left unbuilt, and one line
// says how it would be built; with leave it is built without a network, for each
// client, and runs.
func TestInstallScriptsWithLeave(t *testing.T) {
	hosttest.Long(t, "a native module is compiled")
	const manifest = `{"name":"x","private":true,"packageManager":"%s","dependencies":{"unix-dgram":"2.0.6"}}`
	const works = `node -p "typeof require('unix-dgram').createSocket"`
	for name, c := range map[string]struct {
		manager    string
		toolchains []string
		lock       func(*testing.T, map[string]string) map[string]string
	}{
		"npm":  {"npm@10.0.0", []string{"node"}, lockNPM},
		"pnpm": {"pnpm@10.34.8", []string{"node", "pnpm"}, lockPnpm},
		"yarn": {"yarn@1.22.22", []string{"node", "yarn"}, lockYarn},
		"berry": {"yarn@4.18.1", []string{"node", "berry"},
			func(t *testing.T, files map[string]string) map[string]string { return lockBerry(t, "4.18.1", files) }},
	} {
		t.Run(name, func(t *testing.T) {
			if name != "npm" {
				hosttest.Long(t, "the same module by another client")
			}
			be := newTestBuilder(t)
			withRegistries(t, be, ecosystem.NPM)
			repo := newProject(t).commit(
				c.lock(t, map[string]string{"package.json": strings.Replace(manifest, "%s", c.manager, 1)}))
			req := Request{Toolchains: c.toolchains, Repo: repo}
			if name == "npm" { // the same for all
				img := be.mustEnsure(t, req)
				want := "unix-dgram: not built, since no install script runs without your leave: where checks need it, set deps: " +
					"{scripts: [unix-dgram]} in company.yaml"
				if len(img.Notes) != 1 || img.Notes[0] != want {
					t.Errorf("notes %q, want %q", img.Notes, want)
				}
				again, err := be.Ensure(newContext(t), req)
				if err != nil || len(again.Notes) != 1 {
					t.Errorf("from the cache: notes %q, %v", again.Notes, err)
				}
				if out := be.runInTree(t, img, works+" 2>&1 || true"); !strings.Contains(
					out, "Could not locate the bindings file") {
					t.Errorf("it works all the same: %s", out)
				}
			}
			req.Scripts = []string{"unix-dgram", "not-there"}
			img := be.mustEnsure(t, req)
			if len(img.Notes) != 0 {
				t.Errorf("with leave: notes %q", img.Notes)
			}
			if out := be.runInTree(t, img, works); !strings.Contains(out, "function") {
				t.Error(out)
			}
		})
	}
}

// A script that fails and one that hangs: an error that names it, for a person, and
// nothing of it stays alive. The runner is the one of the images, run here as it is.
func TestInstallScriptsThatFail(t *testing.T) {
	if _, err := exec.LookPath("node"); err != nil {
		hosttest.Lacks(t, "there is no node: %v", err)
	}
	runner, err := filepath.Abs("../../ecosystem/node/runscripts.cjs")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ scripts, want string }{
		"fails": {`"preinstall":"echo first","install":"echo second; exit 7","postinstall":"echo third"`,
			"the install script of a failed (exit code 7): echo second; exit 7"},
		"hangs": {`"install":"sleep 87654 & sleep 87654"`,
			"the install script of a did not end within 1 seconds: sleep 87654 & sleep 87654"},
		"is well":     {`"install":"touch ../../well"`, ""},
		"has nothing": {``, ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			writeTo(t, filepath.Join(dir, "node_modules/a/package.json"),
				`{"name":"a","version":"1.0.0","scripts":{`+c.scripts+`}}`)
			writeTo(t, filepath.Join(dir, "node_modules/b/package.json"),
				`{"name":"b","scripts":{"install":"touch ../../not-allowed"}}`)
			limit := "600" // a busy machine may take a while for what ends by itself
			if name == "hangs" {
				limit = "1"
			}
			cmd := exec.CommandContext(t.Context(), "node", runner, limit, "a", "gone")
			cmd.Dir, cmd.WaitDelay = dir, time.Minute
			out, err := cmd.CombinedOutput()
			if (err != nil) != (c.want != "") || !strings.Contains(string(out), c.want) ||
				strings.Contains(string(out), "third") {
				t.Errorf("%v: %s", err, out)
			}
			if _, err := os.Stat(filepath.Join(dir, "not-allowed")); err == nil {
				t.Error("a script ran that was not allowed")
			}
			if _, err := os.Stat(filepath.Join(dir, "well")); (err == nil) != (name == "is well") {
				t.Errorf("the script did not run where the package lies: %v", err)
			}
		})
	}
}

// In an image the failure of a script is the error that says so, and no second try helps.
func TestInstallScriptFailsInAnImage(t *testing.T) {
	hosttest.Long(t, "TestContainerFailureScreens has a script that fails")
	be := newTestBuilder(t)
	withRegistries(t, be, ecosystem.NPM)
	// Its code asks for a library that no image has.
	repo := newProject(t).commit(
		lockNPM(t, map[string]string{"package.json": `{"name":"x","dependencies":{"libpq":"1.8.13"}}`}))
	req := Request{Toolchains: []string{"node"}, Repo: repo, Scripts: []string{"libpq"}}
	be.dropAtEnd(t, req, newBuiltBase())
	_, err := be.Ensure(newContext(t), req)
	requireCode(t, err, company.EImage, "the install scripts that deps.scripts names do not end well",
		"the install script of libpq failed")
	if !company.NeedsPerson(err) {
		t.Errorf("this would be tried again: %v", err)
	}
}

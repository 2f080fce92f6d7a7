package image

import (
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/lib/hosttest"
)

// A manifest without a lock file is resolved once, by the client of its project; an
// image is made from the lock file, and two tasks that have it share the image.
func TestResolveWithoutLock(t *testing.T) {
	hosttest.Long(t, "clients resolve packages")
	for name, c := range map[string]struct {
		toolchains []string
		manifest   string
		lock, note string
	}{
		"npm": {[]string{"node"}, `{"name":"x"%s}`, "package-lock.json", "npm install --package-lock-only"},
		"pnpm": {[]string{"node", "pnpm"}, `{"name":"x","packageManager":"pnpm@10.0.0"%s}`, "pnpm-lock.yaml",
			"pnpm install --lockfile-only"},
		"yarn":  {[]string{"node", "yarn"}, `{"name":"x","packageManager":"yarn@1.22.0"%s}`, "yarn.lock", "yarn install"},
		"berry": {[]string{"node", "berry"}, `{"name":"x","packageManager":"yarn@4.1.0"%s}`, "yarn.lock", "yarn install"},
	} {
		t.Run(name, func(t *testing.T) {
			if name != "npm" {
				hosttest.Long(t, "the same by another client")
			}
			be := newTestBuilder(t)
			withRegistries(t, be, ecosystem.NPM)
			p := newProject(t)
			repo := p.commit(map[string]string{
				"package.json": strings.Replace(
					c.manifest, "%s",
					`,"workspaces":["w"],"private":true,"dependencies":{"is-odd":"^3.0.0"},"scripts":{"preinstall":"touch /opt/out/canary"}`, 1),
				"w/package.json":      `{"name":"w","version":"1.0.0","dependencies":{"left-pad":"1.3.0"}}`,
				"pnpm-workspace.yaml": "packages: [w]\n",
			})
			req := Request{Toolchains: c.toolchains, Repo: repo}
			got, err := be.Resolve(newContext(t), req)
			if err != nil {
				t.Fatal(err)
			}
			lock := string(got.Locks[c.lock])
			if len(got.Locks) != 1 || !strings.Contains(lock, "left-pad") || !strings.Contains(lock, "is-number") {
				t.Fatalf("%d lock files: %q", len(got.Locks), lock)
			}
			if len(got.Notes) != 1 || !strings.HasPrefix(
				got.Notes[0], "package.json has no lock file: 3 packages resolved for this task: is-odd 3.0.1, left-pad 1.3.0 (") ||
				!strings.Contains(got.Notes[0], "`"+c.note+"`") {
				t.Errorf("notes %q", got.Notes)
			}
			second, err := be.Resolve(newContext(t), req)
			if err != nil || string(second.Locks[c.lock]) != lock ||
				!strings.HasPrefix(second.Notes[0],
					"package.json has no lock file: 3 packages as resolved for an earlier task at 2") {
				t.Errorf("a second task: %q, %v", second.Notes, err)
			}
			p.git("checkout", "-q", "-b", "locked")
			locked := p.commit(map[string]string{c.lock: lock})
			req.Repo.Locks = locked.Commit
			img := be.mustEnsure(t, req)
			if len(img.Notes) != 0 {
				t.Errorf("notes %q", img.Notes)
			}
			if out := be.runInTree(t, img,
				`node -p "require('is-odd')(3)"; (cd w && node -p "require('left-pad')('x',2)"); git status --porcelain; ls`); !strings.Contains(out, "true\n") ||
				!strings.Contains(out, " x\n") || strings.Contains(out, "lock") || strings.Contains(out, "??") {
				t.Error(out)
			}
			again, err := be.Resolve(newContext(t), Request{Toolchains: c.toolchains, Repo: req.Repo})
			if err != nil || len(again.Locks) != 0 {
				t.Errorf("with the lock file: %v, %v", again, err)
			}
		})
	}
}

// A lock file that does not fit its manifest: one error that a person has to see, by
// each client in its own words, or by the mirror, which has only what is locked.
func TestLocksThatDoNotFit(t *testing.T) {
	hosttest.Long(t, "clients resolve packages")
	for name, c := range map[string]struct {
		manager    string
		toolchains []string
		lock       func(*testing.T, map[string]string) map[string]string
	}{
		"npm":  {"npm@10.0.0", []string{"node"}, lockNPM},
		"pnpm": {"pnpm@10.34.8", []string{"node", "pnpm"}, lockPnpm},
		"yarn": {"yarn@1.22.22", []string{"node", "yarn"}, lockYarn},
		"berry 4": {"yarn@4.18.1", []string{"node", "berry"},
			func(t *testing.T, files map[string]string) map[string]string { return lockBerry(t, "4.18.1", files) }},
		"berry 3": {"yarn@3.2.0", []string{"node", "berry"},
			func(t *testing.T, files map[string]string) map[string]string { return lockBerry(t, "3.2.0", files) }},
	} {
		t.Run(name, func(t *testing.T) {
			if name != "npm" {
				hosttest.Long(t, "the same by another client")
			}
			be := newTestBuilder(t)
			withRegistries(t, be, ecosystem.NPM)
			files := c.lock(
				t, map[string]string{"package.json": `{"name":"x","packageManager":"` + c.manager +
					`","dependencies":{"is-odd":"3.0.1"}}`})
			files["package.json"] = strings.Replace(files["package.json"], "3.0.1", "2.0.0", 1)
			req := Request{Toolchains: c.toolchains, Repo: newProject(t).commit(files)}
			be.dropAtEnd(t, req, newBuiltBase())
			_, err := be.Ensure(newContext(t), req)
			requireCode(t, err, company.EImage, "cannot be installed")
			if !company.NeedsPerson(err) {
				t.Errorf("this would be tried again: %v", err)
			}
			t.Log(err)
		})
	}
}

// A package that there is not: one error that names the
// remedy, and no second try.
func TestResolveFails(t *testing.T) {
	hosttest.Long(t, "clients resolve packages")
	for name, c := range map[string]struct {
		toolchains []string
		manifest   string
	}{
		"npm": {[]string{"node"}, `{"name":"x","dependencies":{"no-such-package-a7f3":"1.0.0"}}`},
		"pnpm": {[]string{"node", "pnpm"},
			`{"name":"x","packageManager":"pnpm@10.0.0","dependencies":{"no-such-package-a7f3":"1.0.0"}}`},
		"yarn": {[]string{"node", "yarn"},
			`{"name":"x","packageManager":"yarn@1.22.0","dependencies":{"no-such-package-a7f3":"1.0.0"}}`},
		"berry": {[]string{"node", "berry"},
			`{"name":"x","packageManager":"yarn@4.1.0","dependencies":{"no-such-package-a7f3":"1.0.0"}}`},
	} {
		t.Run(name, func(t *testing.T) {
			if name != "npm" {
				hosttest.Long(t, "the same by another client")
			}
			be := newTestBuilder(t)
			withRegistries(t, be, ecosystem.NPM)
			_, err := be.Resolve(newContext(t),
				Request{Toolchains: c.toolchains, Repo: newProject(t).commit(map[string]string{"package.json": c.manifest})})
			requireCode(t, err, company.EImage, "the packages of package.json cannot be resolved, and it has no lock file")
			if !company.NeedsPerson(err) || !strings.Contains(err.Error(), "no-such-package-a7f3") {
				t.Errorf("%v", err)
			}
		})
	}
}

// Optional packages of other systems, of which the registry lacks one that is asked for:
// npm resolves without it, and installs from the lock file that it made.
func TestResolveOptionalOfOtherSystems(t *testing.T) {
	hosttest.Long(t, "npm resolves packages")
	be := newTestBuilder(t)
	up := upstreams()
	up.Registries[ecosystem.NPM] = ecosystem.At(ecosystem.Endpoint{URL: newNPM(t, npmPackages{
		"one":      {"1.0.0": `{"name":"one","version":"1.0.0","optionalDependencies":{"one-here":"1.0.0","one-aix":"1.0.0","one-win":"1.0.0"}}`},
		"one-here": {"1.0.0": `{"name":"one-here","version":"1.0.0","os":["linux"]}`},
		"one-aix":  {"1.0.0": `{"name":"one-aix","version":"1.0.0","os":["aix"]}`},
		"one-win":  {"0.9.0": `{"name":"one-win","version":"0.9.0","os":["win32"]}`}, // not the one that is asked for
	}, nil).URL})
	useRegistries(t, be, up, t.TempDir())
	p := newProject(t)
	req := Request{Toolchains: []string{"node"},
		Repo: p.commit(map[string]string{"package.json": `{"name":"x","dependencies":{"one":"^1.0.0"}}`})}
	got, err := be.Resolve(newContext(t), req)
	if err != nil {
		t.Fatal(err)
	}
	lock := string(got.Locks["package-lock.json"])
	if !strings.Contains(lock, "node_modules/one-aix") || strings.Contains(lock, "node_modules/one-win") {
		t.Fatalf("npm resolves in another way now: %s", lock)
	}
	p.git("checkout", "-q", "-b", "locked")
	req.Repo.Locks = p.commit(map[string]string{"package-lock.json": lock}).Commit
	img := be.mustEnsure(t, req)
	if out := be.runInTree(t, img, `ls node_modules | tr '\n' ' '`); strings.TrimSpace(out) != "one one-here" {
		t.Errorf("installed: %q", out)
	}
}

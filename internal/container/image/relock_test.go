package image

import (
	"fmt"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/ecosystem/depproxy"
	"company/internal/lib/hosttest"
)

// A lock file that both sides of a merge have changed is made anew by its own client: the
// packages of both are in it, versions that the base has stay, a second time gives the
// same text, and no address of a mirror is in it (SUB-19).
func TestRelock(t *testing.T) {
	hosttest.Long(t, "clients resolve packages")
	for name, c := range map[string]struct {
		toolchains []string
		manager    string
		lock       func(*testing.T, map[string]string) map[string]string
		file       string
		command    string
	}{
		"npm":  {[]string{"node"}, "npm@10.0.0", lockNPM, "package-lock.json", "npm install --package-lock-only"},
		"pnpm": {[]string{"node", "pnpm"}, "pnpm@10.34.8", lockPnpm, "pnpm-lock.yaml", "pnpm install --lockfile-only"},
		"yarn": {[]string{"node", "yarn"}, "yarn@1.22.22", lockYarn, "yarn.lock", "yarn install"},
		"berry": {[]string{"node", "berry"}, "yarn@4.12.0",
			func(t *testing.T, files map[string]string) map[string]string {
				return lockBerry(t, "4.12.0", files)
			}, "yarn.lock", "yarn install"},
	} {
		t.Run(name, func(t *testing.T) {
			hosttest.Long(t, "one more row")
			if name != "npm" {
				hosttest.Long(t, "the same by another client")
			}
			be := newTestBuilder(t)
			withRegistries(t, be, ecosystem.NPM)
			manifest := func(packages string) map[string]string {
				return map[string]string{"package.json": fmt.Sprintf(
					`{"name":"x","version":"1.0.0","license":"MIT","packageManager":%q,"dependencies":{%s}}`, c.manager, packages)}
			}
			base := c.lock(t, manifest(`"is-number":"6.0.0"`))
			ours := c.lock(t, manifest(`"is-number":"6.0.0","is-odd":"3.0.1"`))
			theirs := c.lock(t, manifest(`"is-number":"6.0.0","left-pad":"1.3.0"`))
			// Both sides ask for more now than when the base was locked.
			merged := manifest(`"is-number":"^6.0.0","is-odd":"^3.0.0","left-pad":"^1.2.0"`)
			merged[c.file] = strings.ReplaceAll(ours[c.file], "is-number@6.0.0", "is-number@^6.0.0")
			repo := newProject(t).commit(merged)
			policy, _ := depproxy.LockedPolicy(map[string][]byte{c.file: []byte(base[c.file])})
			for _, added := range []string{"is-odd", "left-pad", "is-number"} {
				policy.AllowWithNeeds(company.Dependency{Ecosystem: ecosystem.NPM, Name: added})
			}
			repo.Policy = policy
			req := Request{Toolchains: c.toolchains, Repo: repo}
			conflict := []ecosystem.LockConflict{{Path: c.file, Ours: []byte(ours[c.file]), Theirs: []byte(theirs[c.file])}}
			made, err := be.Relock(newContext(t), req, conflict)
			if err != nil {
				t.Fatal(err)
			}
			text := string(made[0].Text)
			names, notes := depproxy.ParseLocks(map[string][]byte{c.file: made[0].Text})
			if len(made) != 1 || made[0].Command != c.command || len(notes) > 0 ||
				!strings.Contains(fmt.Sprint(names), "is-odd@3.0.1") || !strings.Contains(fmt.Sprint(names), "left-pad@1.3.0") ||
				strings.Contains(text, "127.0.0.1") {
				t.Fatalf("%q made %v %v\n%s", made[0].Command, names, notes, text)
			}
			again, err := be.Relock(newContext(t), req, conflict)
			if err != nil || string(again[0].Text) != text {
				t.Errorf("another text the second time: %v", err)
			}
			repo.Policy, _ = depproxy.LockedPolicy(map[string][]byte{c.file: []byte(base[c.file])})
			delete(merged, c.file)
			merged["package.json"] = strings.Replace(merged["package.json"], "left-pad", "is-even", 1)
			merged[c.file] = ours[c.file]
			req.Repo = newProject(t).commit(merged)
			req.Repo.Policy = repo.Policy
			if _, err := be.Relock(newContext(t), req, conflict); company.CodeOf(err) != company.EImage ||
				!strings.Contains(err.Error(), c.file+" cannot be made anew by its client") {
				t.Errorf("a package that nobody has let: %v", err)
			}
		})
	}
}

// What a client has made counts where it can be read and has the packages of both sides.
func TestRelockedIsWhole(t *testing.T) {
	t.Parallel()
	lock := func(names ...string) []byte {
		rows := `"":{"name":"me"}`
		for _, n := range names {
			rows += `,"node_modules/` + n + `":{"version":"1.0.0"}`
		}
		return []byte(`{"packages":{` + rows + `}}`)
	}
	c := ecosystem.LockConflict{Path: "package-lock.json", Ours: lock("a", "b", "gone"), Theirs: lock("a", "c")}
	r := ecosystem.Resolution{ToKeep: "npm install"}
	for _, name := range []string{"a", "b", "c"} {
		r.Wants = append(r.Wants, company.Dependency{Ecosystem: ecosystem.NPM, Name: name})
	}
	for want, text := range map[string][]byte{"": lock("a", "b", "c"), "lacks c": lock("a", "b"),
		"cannot be read": []byte("<<<<<<< ours")} {
		err := checkRelocked(c, r, text)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v", want, err)
		}
	}
}

// What one side has replaced in its lock file does not come back (npm audit fix, cargo update): its manifest does not
// tell of it, and a client keeps what the other side's file says.
func TestRelockKeepsWhatWasReplaced(t *testing.T) {
	t.Parallel()
	lock := func(versions ...string) []byte {
		rows := `"":{"name":"me"},"node_modules/b":{"version":"1.0.0"}`
		for i, v := range versions {
			rows += fmt.Sprintf(`,"%snode_modules/minimist":{"version":%q}`, strings.Repeat("node_modules/b/", i), v)
		}
		return []byte(`{"packages":{` + rows + `}}`)
	}
	r := ecosystem.Resolution{ToKeep: "npm install"}
	for name, c := range map[string]struct {
		base, ours, theirs, made []byte
		want                     string
	}{
		"undone": {lock("1.2.5"), lock("1.2.5"), lock("1.2.8"), lock("1.2.5"),
			"one side replaced minimist 1.2.5 with 1.2.8"},
		"kept":                  {lock("1.2.5"), lock("1.2.5"), lock("1.2.8"), lock("1.2.8"), ""},
		"newer still":           {lock("1.2.5"), lock("1.2.5"), lock("1.2.8"), lock("1.2.9"), ""},
		"both are needed":       {lock("1.2.5"), lock("1.2.5"), lock("1.2.8"), lock("1.2.8", "1.2.5"), ""},
		"removed":               {lock("1.2.5"), lock("1.2.5"), lock(), lock("1.2.5"), ""},
		"raised by ours":        {lock("1.2.5"), lock("1.2.8"), lock("1.2.5"), lock("1.2.8"), ""},
		"both raise, ours less": {lock("1.2.5"), lock("1.2.6"), lock("1.2.8"), lock("1.2.6"), "has 1.2.6"},
		"both raise, ours more": {lock("1.2.5"), lock("1.3.0"), lock("1.2.8"), lock("1.3.0"), ""},
		"one of two taken out": {lock("1.2.5", "1.2.8"), lock("1.2.5", "1.2.8"), lock("1.2.8"), lock("1.2.5", "1.2.8"),
			"has 1.2.5"},
		"another is made of one": {lock("1.2.5"), lock("1.2.5"), lock("1.2.5", "1.2.8"), lock("1.2.5"), ""},
	} {
		err := checkRelocked(ecosystem.LockConflict{Path: "package-lock.json", Base: c.base, Ours: c.ours, Theirs: c.theirs},
			r, c.made)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Cargo makes a Cargo.lock anew with the crates of both sides (SUB-19).
func TestRelockCrates(t *testing.T) {
	hosttest.Long(t, "TestRelock has npm")
	be := newTestBuilder(t)
	be.withoutHostTree("rust")
	up := upstreams()
	up.Registries[ecosystem.Crates] = ecosystem.At(newCrates(t, map[string]string{"kept": "", "mine": "", "yours": ""}))
	useRegistries(t, be, up, t.TempDir())
	lock := func(names ...string) string {
		text, needs := "version = 4\n\n", ""
		for _, n := range names {
			needs += " \"" + n + "\",\n"
		}
		text += "[[package]]\nname = \"app\"\nversion = \"0.1.0\"\ndependencies = [\n" + needs + "]\n"
		for _, n := range names {
			text += "\n[[package]]\nname = \"" + n +
				"\"\nversion = \"1.0.0\"\nsource = \"registry+https://github.com/rust-lang/crates.io-index\"\nchecksum = \"" +
				checksumOf(t, up, n) + "\"\n"
		}
		return text
	}
	repo := newProject(t).commit(map[string]string{
		"Cargo.toml": "[package]\nname = \"app\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[dependencies]\nkept = " +
			"\"1\"\nmine = \"1\"\nyours = \"1\"\n",
		"src/lib.rs": "", "Cargo.lock": lock("kept", "mine"),
	})
	repo.Policy, _ = depproxy.LockedPolicy(map[string][]byte{"Cargo.lock": []byte(lock("kept"))})
	for _, added := range []string{"mine", "yours"} {
		repo.Policy.AllowWithNeeds(company.Dependency{Ecosystem: ecosystem.Crates, Name: added, Version: "1.0.0"})
	}
	made, err := be.Relock(newContext(t), Request{Toolchains: []string{"rust"}, Repo: repo},
		[]ecosystem.LockConflict{{Path: "Cargo.lock", Ours: []byte(lock("kept", "mine")),
			Theirs: []byte(lock("kept", "yours"))}})
	if err != nil {
		t.Fatal(err)
	}
	if _, got, _ := strings.Cut(string(made[0].Text), "version = 4\n"); "version = 4\n"+
		got != lock("kept", "mine", "yours") || made[0].Command != "cargo update --workspace" {
		t.Errorf("%s", made[0].Text)
	}
}

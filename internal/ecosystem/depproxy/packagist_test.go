package depproxy

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/ecosystem/ecosystemtest"
)

// T15: a file of a package comes from where the registry has it, whatever else is asked for: the
// commit of a release is the registry's, a branch may stand at one that a lock file names, and the
// digest is that of the registry or of the lock file.
func TestPackagistFiles(t *testing.T) {
	now, then := strings.Repeat("a", 40), strings.Repeat("b", 40)
	zip := ecosystemtest.Zip(t, [2]string{"acme-left-a/src/L.php", "<?php\n"})
	sum := sha1.Sum(zip)
	good, bad := hex.EncodeToString(sum[:]), strings.Repeat("0", 40)
	for name, c := range map[string]struct {
		version, reference  string
		registrySum, locked string // digests
		distType            string
		status              int
		says, asked         string
	}{
		"release":           {"v1.2.0", now, "", "", "zip", http.StatusOK, "", "/files/" + now},
		"whatever there is": {"v1.2.0", "-", "", "", "zip", http.StatusOK, "", "/files/" + now},
		"another commit": {"v1.2.0", then, "", "", "zip", http.StatusNotFound,
			"the registry has another commit of packagist acme/left@v1.2.0 than is asked for", ""},
		"branch":   {"dev-main", then, "", "", "zip", http.StatusOK, "", "/files/" + then},
		"its head": {"dev-main", now, "", "", "zip", http.StatusOK, "", "/files/" + now},
		"a commit of nobody's": {"dev-main", strings.Repeat("c", 40), "", "", "zip", http.StatusNotFound,
			"another commit", ""},
		"no commit":           {"dev-main", "../../x", "", "", "zip", http.StatusNotFound, "another commit", ""},
		"registry's digest":   {"v1.2.0", now, good, bad, "zip", http.StatusOK, "", "/files/" + now},
		"wrong digest":        {"v1.2.0", now, bad, "", "zip", http.StatusBadGateway, "digest differs", "/files/" + now},
		"lock file's digest":  {"v1.2.0", now, "", good, "zip", http.StatusOK, "", "/files/" + now},
		"not the locked file": {"v1.2.0", now, "", bad, "zip", http.StatusBadGateway, "digest differs", "/files/" + now},
		"no tar": {"v1.2.0", now, "", "", "tar", http.StatusBadGateway, "not a file of the requested kind",
			"/files/" + now},
		"a kind of its own":    {"v1.2.0", now, "", "", "path", http.StatusNotFound, "of a kind that is not served", ""},
		"without a file":       {"v1.2.0", now, "", "", "", http.StatusNotFound, "only a repository of git", ""},
		"a version not locked": {"v1.3.0", now, "", "", "zip", http.StatusNotFound, "is not in the project's lock files", ""},
	} {
		t.Run(name, func(t *testing.T) {
			var r *fakeRegistry
			r = newFakeRegistry(t, func(w http.ResponseWriter, q *http.Request) {
				dist := fmt.Sprintf(`{"type":%q,"url":"%s/files/%s","reference":%q,"shasum":%q}`, c.distType, r.URL, now, now,
					c.registrySum)
				if c.distType == "" {
					dist = "null"
				}
				switch {
				case q.URL.Path == "/packages.json":
					_, _ = w.Write([]byte(`{"metadata-url":"/p2/%package%.json"}`))
				case q.URL.Path == "/p2/acme/left.json":
					_, _ = fmt.Fprintf(
						w, `{"packages":{"acme/left":[{"version":"v1.3.0","dist":%[1]s},{"version":"v1.2.0","dist":%[1]s}]}}`, dist)
				case q.URL.Path == "/p2/acme/left~dev.json":
					_, _ = fmt.Fprintf(w, `{"packages":{"acme/left":[{"version":"dev-main","dist":%s}]}}`, dist)
				case strings.HasPrefix(q.URL.Path, "/files/"):
					_, _ = w.Write(zip)
				default:
					http.NotFound(w, q)
				}
			})
			lock := fmt.Sprintf(
				`{"packages":[{"name":"acme/left","version":%q,"dist":{"type":"zip","url":"https://evil.example/x.zip","reference":%q,"shasum":%q}}]}`, strings.Replace(c.version, "v1.3.0", "v1.2.0", 1), then, c.locked)
			p, notes := LockedPolicy(map[string][]byte{"composer.lock": []byte(lock)})
			h := newStore(t, upstreamsAt(Packagist, r.URL)).NewPolicyHandler(p)
			code, text := getPath(t, h, http.MethodGet,
				"/packagist/dist/acme/left/"+c.version+"/"+strings.ReplaceAll(c.reference, "/", "%2f"))
			if code != c.status || !strings.Contains(text, c.says) || code == http.StatusOK && text != string(zip) ||
				len(notes) > 0 {
				t.Errorf("%d %.300q, notes %q", code, text, notes)
			}
			files := slices.DeleteFunc(r.requests(), func(path string) bool { return !strings.HasPrefix(path, "/files/") })
			if strings.Join(slices.Compact(files), " ") != c.asked {
				t.Errorf("asked for %q, want %q", files, c.asked)
			}
		})
	}
}

// What an added package needs may be fetched too, and a refusal is text that composer shows:
// it takes 403 for a login that it lacks.
func TestPackagistDescriptions(t *testing.T) {
	srv := ecosystemtest.ServeComposer(t, map[string]ecosystemtest.ComposerPackage{
		"acme/left": {Version: "v1.2.0", Reference: "a",
			Fields: `,"require":{"php":">=8","ext-json":"*","acme/right":"^1"}`},
		"acme/right": {Version: "1.0.0", Reference: "b"}, "acme/other": {Version: "1.0.0", Reference: "c"},
	})
	s := newStore(t, upstreamsAt(Packagist, srv.URL))
	p := NewPolicy()
	h := s.NewPolicyHandler(p)
	if code, text := getPath(t, h, http.MethodGet, "/packagist/p2/acme/left.json"); code != http.StatusNotFound ||
		!strings.HasPrefix(text, `{"warning":"packagist acme/left is not in the project`) {
		t.Errorf("%d %s", code, text)
	}
	d, err := s.Resolve(t.Context(), newDependency(Packagist, "Acme/Left", ""))
	if err != nil || d.Version != "v1.2.0" {
		t.Fatalf("%v %v", d, err)
	}
	p.AllowWithNeeds(d)
	for path, want := range map[string]int{"acme/left.json": http.StatusOK, "acme/left~dev.json": http.StatusNotFound,
		"acme/other.json": http.StatusNotFound, "acme/left": http.StatusNotFound, "acme/../left.json": http.StatusNotFound} {
		if code, text := getPath(t, h, http.MethodGet, "/packagist/p2/"+path); code != want {
			t.Errorf("%s: %d %s", path, code, text)
		}
	}
	if code, text := getPath(t, h, http.MethodGet, "/packagist/p2/acme/right.json"); code != http.StatusOK ||
		p.CountNames("") != 2 {
		t.Errorf("what it needs: %d %s, %d names", code, text, p.CountNames(""))
	}
	if code, text := getPath(t, h, http.MethodGet, "/packagist/packages.json"); code != http.StatusOK ||
		!strings.Contains(text, `/packagist/p2/%package%.json"`) {
		t.Errorf("%d %s", code, text)
	}
}

// A lock file that names a branch allows its commit also where another package needs the same one
// in any version, and in whatever letters it has the name.
func TestPackagistCommitOfABranch(t *testing.T) {
	now, then := strings.Repeat("a", 40), strings.Repeat("b", 40)
	var r *fakeRegistry
	r = newFakeRegistry(t, func(w http.ResponseWriter, q *http.Request) {
		switch {
		case q.URL.Path == "/packages.json":
			_, _ = w.Write([]byte(`{"metadata-url":"/p2/%package%.json"}`))
		case strings.HasPrefix(q.URL.Path, "/p2/"):
			_, _ = fmt.Fprintf(
				w, `{"packages":{"acme/left":[{"version":"dev-main","dist":{"type":"zip","url":"%s/files/%s","reference":%q}}]}}`,
				r.URL, now, now)
		default:
			_, _ = w.Write(ecosystemtest.Zip(t, [2]string{"x/L.php", "<?php\n"}))
		}
	})
	p, _ := LockedPolicy(
		map[string][]byte{"composer.lock": []byte(
			`{"packages-dev":[{"name":"Acme/Left","version":"dev-main","dist":{"type":"zip","reference":"` + then + `"}}]}`)})
	p.allowTransitive([]company.Dependency{newDependency(Packagist, "acme/left", "")})
	h := newStore(t, upstreamsAt(Packagist, r.URL)).NewPolicyHandler(p.Clone())
	for reference, want := range map[string]int{now: http.StatusOK, then: http.StatusOK,
		strings.Repeat("c", 40): http.StatusNotFound} {
		if code, text := getPath(t, h, http.MethodGet, "/packagist/dist/acme/left/dev-main/"+reference); code != want {
			t.Errorf("%s: %d %s", reference, code, text)
		}
	}
}

// In the short form of a description one list of needs may count for all versions behind it. It is
// read once, and a description has no more than so many versions.
func TestPackagistShortForm(t *testing.T) {
	var needs strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&needs, `,"acme/n%d":"*"`, i)
	}
	versions := `{"version":"1.0.0","require":{"acme/right":"*"` + needs.String() + `}}` + strings.Repeat(",{}", 500) +
		`,{"version":"1.0.1"},{"version":"1.0.2","require":"__unset"},{"version":"1.0.3","require":{"acme/last":"*"}}`
	lists := map[string]string{"acme/left": versions,
		"acme/endless": `{"version":"1.0.0"}` + strings.Repeat(",{}", 200_000)}
	r := newFakeRegistry(t, func(w http.ResponseWriter, q *http.Request) {
		if q.URL.Path == "/packages.json" {
			_, _ = w.Write([]byte(`{"metadata-url":"/p2/%package%.json"}`))
			return
		}
		name := strings.TrimSuffix(strings.TrimPrefix(q.URL.Path, "/p2/"), ".json")
		_, _ = fmt.Fprintf(w, `{"minified":"composer/2.0","packages":{%q:[%s]}}`, name, lists[name])
	})
	s := newStore(t, upstreamsAt(Packagist, r.URL))
	ask := func(d company.Dependency) (p *Policy, code int) {
		p = NewPolicy()
		p.AllowWithNeeds(d)
		code, _ = getPath(t, s.NewPolicyHandler(p), http.MethodGet, "/packagist/p2/"+d.Name+".json")
		return p, code
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if p, code := ask(newDependency(Packagist, "acme/left", "")); code != http.StatusOK || p.CountNames("") != 20_003 {
		t.Errorf("%d, %d names", code, p.CountNames(""))
	}
	if runtime.ReadMemStats(&after); after.TotalAlloc-before.TotalAlloc > 200<<20 {
		t.Errorf("%d MiB for a description of %d KiB", (after.TotalAlloc-before.TotalAlloc)>>20, len(versions)>>10)
	}
	for version, names := range map[string]int{"1.0.1": 20_002, "1.0.2": 1, "1.0.3": 2} {
		if p, _ := ask(newDependency(Packagist, "acme/left", version)); p.CountNames("") != names {
			t.Errorf("%s needs %d packages", version, p.CountNames("")-1)
		}
	}
	if _, code := ask(newDependency(Packagist, "acme/endless", "1.0.0")); code != http.StatusBadGateway {
		t.Errorf("a list without an end: %d", code)
	}
}

// Where the operator's composer gets packages from, and with which login.
func TestComposerSettings(t *testing.T) {
	const packagist, corp = "https://repo.packagist.org", "https://composer.corp.example/all"
	repository := `{"type":"composer","url":"` + corp + `/"}`
	for name, c := range map[string]struct {
		config, auth, env string
		url, login, note  string
	}{
		"none": {"", "", "", packagist, "", ""},
		"in its place": {`{"repositories":[` + repository + `,{"packagist.org":false}]}`,
			`{"http-basic":{"composer.corp.example":{"username":"u","password":"p"}}}`, "", corp,
			ecosystem.BasicAuth("u", "p"), ""},
		"named": {`{"repositories":{"packagist":` + repository + `}}`, "",
			`{"bearer":{"composer.corp.example":"t"}}`, corp, "Bearer t", ""},
		"other hosts": {`{"repositories":{"packagist.org":{"type":"composer","url":"` + corp + `/packages.json"}}}`,
			`{"bearer":{"corp.example":"t"}}`, "", corp, "", ""},
		"beside Packagist": {`{"repositories":[` + repository + `]}`, "", "", corp, "",
			"additional repositories are not served"},
		"of git": {`{"repositories":[{"type":"vcs","url":"https://git.corp.example/x"}]}`, "", "", packagist, "",
			"additional repositories are not served"},
		"turned off": {`{"repositories":[{"packagist.org":false}]}`, "", "", "", "", "no repository that can be served"},
		"no address": {`{"repositories":[{"type":"composer","url":"javascript:x"}]}`, "", "", "", "",
			"no composer packages are served"},
		"broken": {`{"repositories":[`, "", "", "", "", "cannot be read"},
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			for file, text := range map[string]string{"config.json": c.config, "auth.json": c.auth} {
				if text != "" {
					write(t, filepath.Join(home, ".config", "composer"), map[string]string{file: text})
				}
			}
			env := Environment{HomeDir: home, RootDir: home, Programs: map[string]string{"go": filepath.Join(home, "absent")},
				Getenv: func(name string) string { return map[string]string{"COMPOSER_AUTH": c.env}[name] }}
			up, err := env.LoadUpstreams(t.Context())
			e := up.Registries[Packagist].EndpointOf("")
			notes := strings.Join(slices.DeleteFunc(up.Notes, func(n string) bool { return !strings.Contains(n, "composer") }),
				"\n")
			if err != nil || e.URL != c.url || header(e) != c.login || !strings.Contains(notes, c.note) ||
				(c.note == "") != (notes == "") {
				t.Errorf("%v, login %q, notes %q, %v", e, header(e), notes, err)
			}
		})
	}
}

// The settings that a container gets are files that a shell writes as they are meant.
func TestComposerSetupCommand(t *testing.T) {
	home := t.TempDir()
	script := strings.ReplaceAll(SetupCommand("http://127.0.0.1:1", Packagist), "/work/.fetched/composer", home)
	if out, err := exec.CommandContext(t.Context(), "sh", "-c", script).CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	for file, want := range map[string]string{"config.json": `"url":"http://127.0.0.1:1/packagist"`,
		"vendor/company/mirror/mirror.php": `setProcessedUrl('http://127.0.0.1:1/packagist/dist/' . strtolower(`,
		"vendor/composer/installed.json":   `"composer-plugin"`} {
		if out, err := exec.CommandContext(t.Context(), "cat", filepath.Join(home, file)).Output(); err != nil ||
			!strings.Contains(string(out), want) {
			t.Errorf("%s: %v %s", file, err, out)
		}
	}
}

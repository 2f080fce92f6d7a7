package image

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/ecosystem/depproxy"
	"company/internal/lib/hosttest"
	"company/internal/lib/secret"
)

// withArchives gives a builder the operator's own archives of Debian, behind a
// cache of the test's.
func withArchives(t *testing.T, be *testBuilder) {
	t.Helper()
	up, err := depproxy.LoadClientSettings(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(up.SourceLines(ecosystem.Debian, MirrorURL, debianKeyring, debianSuite)) == 0 {
		hosttest.Lacks(t, "this host has no apt source of %s: %v", debianSuite, up.Notes)
	}
	useRegistries(t, be, up, filepath.Join(be.dir, "registries"))
}

// Set-up commands install Debian packages through the operator's own archives,
// signatures checked; the image runs them offline and says nothing of where
// they came from (container.setup).
func TestSetupApt(t *testing.T) {
	hosttest.Long(t, "packages of Debian")
	t.Parallel()
	be := newTestBuilder(t)
	withArchives(t, be)
	img := be.mustEnsure(t, Request{
		Setup: []string{
			// The secret neither goes to a proxy nor stays.
			`apt-get update && apt-get install -y --no-install-recommends hello jq && [ "${#TOKEN}" = 23 ]`,
			`! apt-get -o Acquire::AllowInsecureRepositories=true install -y no-such-package-at-all`,
		},
		SetupEnv: map[string]secret.Value{"TOKEN": secret.New(canary), "http_proxy": secret.New("http://127.0.0.1:9")},
	})
	if len(img.Notes) != 0 {
		t.Errorf("notes %q", img.Notes)
	}
	out := be.mustRun(
		t, img, `hello; echo '{"a":[1,2]}' | jq -c .a; dpkg-query -W -f '${Status}\n' jq; ls /etc/apt/sources.list.d /var/lib/apt/lists /var/cache/apt; cat /etc/apt/apt.conf.d/* | grep -c 127.0.0.1 || true; env`)
	if !strings.HasPrefix(
		out, "Hello, world!\n[1,2]\ninstall ok "+
			"installed\n/etc/apt/sources.list.d:\n\n/var/cache/apt:\n\n/var/lib/apt/lists:\n0\n") ||
		strings.Contains(out, "DEBIAN_FRONTEND") {
		t.Errorf("%q", out)
	}
	be.eachFile(t, img, func(h *tar.Header, r io.Reader) {
		name := cleanName(h.Name)
		for _, dir := range []string{"etc/apt/sources.list", "var/lib/apt/lists/", "var/cache/apt/", "var/log/apt",
			"opt/company/errand", "opt/company/setup"} {
			if strings.HasPrefix(name, dir) && h.Typeflag != tar.TypeDir {
				t.Errorf("the image holds /%s", name)
			}
		}
		if strings.HasPrefix(name, "etc/") || strings.HasPrefix(name, "var/") {
			text, err := io.ReadAll(r)
			if err != nil || bytes.Contains(text, []byte(MirrorURL)) || bytes.Contains(text, []byte(canary)) {
				t.Errorf("/%s holds the mirror's address or a value: %v", name, err)
			}
		}
	})
}

// Packages whose scripts add users and groups and set owners install under the
// filter that the product uses.
func TestSetupAptUsers(t *testing.T) {
	hosttest.Long(t, "TestSetupApt installs packages")
	t.Parallel()
	be := newTestBuilder(t)
	withArchives(t, be)
	img := be.mustEnsure(
		t, Request{Setup: []string{"apt-get update && apt-get install -y --no-install-recommends openssh-client",
			"useradd -r somebody"}})
	if out := be.mustRun(t, img, `ssh -V 2>&1; getent group _ssh; id -un somebody`); !strings.HasPrefix(out, "OpenSSH_") ||
		!strings.Contains(out, "\n_ssh:") || !strings.HasSuffix(out, "\nsomebody\n") {
		t.Errorf("%q", out)
	}
}

// An archive that Debian's keys do not vouch for is not installed from.
func TestSetupAptUnsigned(t *testing.T) {
	be := newTestBuilder(t)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if path.Base(q.URL.Path) != "InRelease" {
			http.NotFound(w, q)
			return
		}
		_, _ = io.WriteString(w, "Origin: Debian\nSuite: stable\nCodename: "+debianSuite+
			"\nDate: Sat, 01 Mar 2025 00:00:00 UTC\nComponents: main\nSHA256:\n")
	}))
	t.Cleanup(srv.Close)
	up := upstreams()
	up.Registries[ecosystem.Debian] = ecosystem.At(
		ecosystem.Endpoint{URL: srv.URL + "/debian", Parts: map[string][]string{debianSuite: {"main"}}})
	useRegistries(t, be, up, t.TempDir())
	req := Request{Setup: []string{"apt-get update && apt-get install -y hello"}}
	be.dropAtEnd(t, req, newBuiltBase())
	_, err := be.Ensure(newContext(t), req)
	requireCode(t, err, company.EImage, "a set-up command of the worker image failed", "exit code 100")
	if e := (*company.Error)(nil); !errors.As(err, &e) || !strings.Contains(e.Details, "is not signed") {
		t.Errorf("%+v", err)
	}
}

// Without archives, or with container.deps off, set-up is offline as before,
// which is said; it is another image.
func TestSetupAptOff(t *testing.T) {
	be := newTestBuilder(t)
	be.registries = nil
	req := Request{Setup: []string{"[ ! -e " + aptList + " ] && [ ! -e " + aptConf + " ] && apt-get update && ! apt-get " +
		"install -y hello"}}
	plan := func(req Request) (company.Hash, string) {
		t.Helper()
		steps, notes, err := be.planLayers(t.Context(), req, newBuiltBase())
		if err != nil {
			t.Fatal(err)
		}
		return steps[len(steps)-1].key, strings.Join(notes, "\n")
	}
	nothing, notes := plan(req)
	if !strings.Contains(notes, "no registry is available") {
		t.Error(notes)
	}
	up := upstreams()
	useRegistries(t, be, up, t.TempDir())
	if key, notes := plan(req); key != nothing ||
		!strings.Contains(notes, "the apt sources of this host have no "+debianSuite) {
		t.Error(notes)
	}
	up.Registries[ecosystem.Debian] = ecosystem.At(
		ecosystem.Endpoint{URL: "http://127.0.0.1:9/debian", Parts: map[string][]string{debianSuite: {"main"}}})
	useRegistries(t, be, up, t.TempDir())
	if key, notes := plan(req); key == nothing || notes != "" {
		t.Errorf("the same image with and without a link, or notes: %s", notes)
	}
	req.Offline = true
	if key, notes := plan(req); key != nothing || !strings.Contains(notes, "container.deps is off") {
		t.Error(notes)
	}
	be.mustEnsure(t, req)
}

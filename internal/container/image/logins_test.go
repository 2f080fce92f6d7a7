package image

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/ecosystem/depproxy"
	"company/internal/lib/hosttest"
)

const (
	secretSource = "THE SOURCE OF A PRIVATE PACKAGE"
	loginHeader  = "Basic bWU6c2VzYW1l" // me:sesame
)

// requireLogin puts a registry behind a password, and gives it with one.
func requireLogin(t *testing.T, e ecosystem.Endpoint) ecosystem.Endpoint {
	t.Helper()
	to, err := url.Parse(e.URL)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(&url.URL{Scheme: to.Scheme, Host: to.Host})
		r.SetXForwarded()
		r.Out.Header.Del("Authorization")
	}, ModifyResponse: func(r *http.Response) error { // addresses in it are of the one in front
		text, err := io.ReadAll(r.Body)
		text = bytes.ReplaceAll(text, []byte("http://"+to.Host), []byte("http://"+r.Request.Header.Get("X-Forwarded-Host")))
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
		r.Header.Set("Content-Length", strconv.Itoa(len(text)))
		return err
	}}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != loginHeader {
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(func() { srv.Close(); http.DefaultTransport.(*http.Transport).CloseIdleConnections() })
	return ecosystem.Endpoint{URL: srv.URL + to.Path}.WithAuth(loginHeader).ForWholeHost()
}

// newScopedNPM is an npm registry with one package, @corp/secret, and its lock file.
func newScopedNPM(t *testing.T) (e ecosystem.Endpoint, lock string) {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for name, text := range map[string]string{
		"package/package.json": `{"name":"@corp/secret","version":"1.0.0","main":"index.js"}`,
		"package/index.js":     "module.exports = '" + secretSource + "'\n",
	} {
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(text))}); err != nil {
			t.Fatal(err)
		}
		_, _ = w.Write([]byte(text))
	}
	_, _ = w.Close(), z.Close()
	sum := sha512.Sum512(b.Bytes())
	integrity := "sha512-" + base64.StdEncoding.EncodeToString(sum[:])
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, ".tgz") {
			_, _ = w.Write(b.Bytes())
			return
		}
		// The host is the one in front.
		_, _ = fmt.Fprintf(
			w, `{"name":"@corp/secret","dist-tags":{"latest":"1.0.0"},"versions":{"1.0.0":{"name":"@corp/secret","version":"1.0.0","dist":{"tarball":"http://%s/@corp/secret/-/secret-1.0.0.tgz","integrity":%q}}}}`, r.Header.Get("X-Forwarded-Host"), integrity)
	}))
	t.Cleanup(srv.Close)
	return ecosystem.Endpoint{URL: srv.URL},
		`{"name":"x","version":"1.0.0","lockfileVersion":3,"packages":{"":{"name":"x","version":"1.0.0","dependencies":{"@corp/secret":"1.0.0"}},` +
			`"node_modules/@corp/secret":{"version":"1.0.0","resolved":"https://registry.npmjs.org/@corp/secret/-/secret-1.0.0.tgz","integrity":"` + integrity + `"}}}`
}

// useStores gives a bench registries of both kinds.
func useStores(t *testing.T, be *testBuilder, up depproxy.Upstreams) {
	t.Helper()
	stores, err := depproxy.OpenStores(filepath.Join(t.TempDir(), "registries"), up, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stores.Close)
	be.registries, be.withLogins = stores.Public(), stores.WithLogins()
}

// TestPrivatePackagesOfLockFiles is an attack and its defence. A repository
// names a private package in its lock file. Where it may use the operator's
// logins, the package's source is in its containers. Where it may not, its
// image is refused with words that say how to allow it, and it finds nothing of
// what was made for the other.
func TestPrivatePackagesOfLockFiles(t *testing.T) {
	t.Parallel()
	npm, npmLock := newScopedNPM(t)
	crate := newCrates(t, map[string]string{"secret": "pub const S: &str = \"" + secretSource + "\";\n"})
	sum := crateSum(t, crate)
	for name, c := range map[string]struct {
		toolchain string
		set       func(*depproxy.Upstreams)
		files     map[string]string
		look      string // where the source is, in the tree
	}{
		"npm": {"node", func(up *depproxy.Upstreams) {
			private := requireLogin(t, npm)
			private.Scope = "@corp"
			up.Registries[ecosystem.NPM] = ecosystem.At(ecosystem.Endpoint{URL: npm.URL}, private)
		}, map[string]string{"package.json": `{"name":"x","version":"1.0.0","dependencies":{"@corp/secret":"1.0.0"}}`,
			"package-lock.json": npmLock},
			"cat node_modules/@corp/secret/index.js"},
		"pip": {"python", func(up *depproxy.Upstreams) {
			up.Registries[ecosystem.PyPI] = ecosystem.At(
				requireLogin(
					t, newPyPI(
						t, map[string][]byte{"secret-1.0-py3-none-any.whl": newWheel(
							t, "secret", "1.0", "", "s = '"+secretSource+"'\ndef main(): pass\n")})))
		}, map[string]string{"requirements.txt": "secret==1.0\n"}, `python -c "import secret; print(secret.s)"`},
		"cargo": {"rust", func(up *depproxy.Upstreams) {
			up.Registries[ecosystem.Crates] = ecosystem.At(requireLogin(t, crate))
		}, map[string]string{
			"Cargo.toml": "[package]\nname = \"app\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[dependencies]\nsecret = " +
				"\"1\"\n",
			"src/main.rs": "fn main() { println!(\"{}\", secret::S); }\n",
			"Cargo.lock": "version = 4\n\n[[package]]\nname = \"app\"\nversion = \"0.1.0\"\ndependencies = [\n " +
				"\"secret\",\n]\n\n" +
				"[[package]]\nname = \"secret\"\nversion = \"1.0.0\"\nsource = " +
				"\"registry+https://github.com/rust-lang/crates.io-index\"\nchecksum = \"" + sum + "\"\n",
		}, "cat /opt/deps/crates/secret-1.0.0/src/lib.rs"},
	} {
		t.Run(name, func(t *testing.T) {
			if name != "npm" {
				hosttest.Long(t, "the same with another client")
			}
			be := newTestBuilder(t)
			up := upstreams()
			c.set(&up)
			useStores(t, be, up)
			mine := Request{Toolchains: []string{c.toolchain}, Repo: newProject(t).commit(c.files), UseLogins: true}
			if out := be.runInTree(t, be.mustEnsure(t, mine), c.look); !strings.Contains(out, secretSource) {
				t.Fatalf("the attack does not work at all: %s", out)
			}
			other := mine
			other.Repo, other.UseLogins = newProject(t).commit(c.files), false
			_, err := be.Ensure(newContext(t), other)
			requireCode(t, err, company.EAuth, "needs your login, and this repository may not use it")
			if e := new(company.Error); !errors.As(err, &e) || !strings.Contains(e.Hint, "company trust --logins") ||
				e.Class != company.HumanRequired {
				t.Errorf("hint: %+v", err)
			}
			// Who may use them has layers of its own all the same.
			third := mine
			third.Repo = newProjectNamed(t, "third").commit(c.files)
			made := map[company.Hash]bool{}
			for _, s := range be.ownLayers(t, mine, newBuiltBase()) {
				made[s.key] = s.kind == name
			}
			for _, s := range be.ownLayers(t, third, newBuiltBase()) {
				if made[s.key] {
					t.Errorf("two projects share the layer %s", s.uniqueName())
				}
			}
		})
	}
}

func crateSum(t *testing.T, e ecosystem.Endpoint) string {
	t.Helper()
	resp, err := http.Get(strings.TrimSuffix(e.URL, "/index") + "/files/secret")
	if err != nil {
		t.Fatal(err)
	}
	defer http.DefaultClient.CloseIdleConnections()
	defer resp.Body.Close()
	h := sha256.New()
	var b bytes.Buffer
	if _, err := b.ReadFrom(resp.Body); err != nil {
		t.Fatal(err)
	}
	h.Write(b.Bytes())
	return hex.EncodeToString(h.Sum(nil))
}

// TestPrivateModulesOfGoMod is the same for Go, whose modules the host's own go
// command fetches: by a password in GOPROXY, by .netrc, and under a name that
// GOPRIVATE has.
func TestPrivateModulesOfGoMod(t *testing.T) {
	var zipped bytes.Buffer
	z := zip.NewWriter(&zipped)
	for name, text := range map[string]string{"go.mod": "module corp.example/secret\n",
		"secret.go": "package secret // " + secretSource + "\n"} {
		w, err := z.Create("corp.example/secret@v1.0.0/" + name)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = w.Write([]byte(text))
	}
	_ = z.Close()
	proxy := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != loginHeader && !strings.HasPrefix(r.URL.Path, "/open/") {
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		switch filepath.Base(r.URL.Path) {
		case "v1.0.0.info":
			_, _ = w.Write([]byte(`{"Version":"v1.0.0"}`))
		case "v1.0.0.mod":
			_, _ = w.Write([]byte("module corp.example/secret\n"))
		case "v1.0.0.zip":
			_, _ = w.Write(zipped.Bytes())
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(proxy.Close)
	host := strings.TrimPrefix(proxy.URL, "https://")
	certificate := filepath.Join(t.TempDir(), "ca.pem")
	writeTo(t, certificate, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: proxy.Certificate().Raw})))
	disk := t.TempDir()
	for file, text := range map[string]string{"list": "v1.0.0\n", "v1.0.0.info": `{"Version":"v1.0.0"}`,
		"v1.0.0.mod": "module corp.example/secret\n", "v1.0.0.zip": zipped.String()} {
		writeTo(t, filepath.Join(disk, "corp.example/secret/@v", file), text)
	}
	for name, c := range map[string]struct{ address, netrc, private, says string }{
		"password in the address": {"https://me:sesame@" + host + "/x", "", "", "the go registry needs your login"},
		"netrc": {proxy.URL + "/x", "machine " + host + " login me password sesame\n", "",
			"the go registry needs your login"},
		"private by name, on disk": {"file://" + disk, "", "corp.example/*", "corp.example/secret is private (GOPRIVATE)"},
		"private by name":          {proxy.URL + "/open", "", "corp.example/*", "corp.example/secret is private (GOPRIVATE)"},
	} {
		t.Run(name, func(t *testing.T) {
			be := newRacedBuilder(t)
			netrc := filepath.Join(t.TempDir(), "netrc")
			writeTo(t, netrc, c.netrc)
			for k, v := range map[string]string{"GOPROXY": c.address, "GOSUMDB": "off", "GONOSUMDB": "", "GOPRIVATE": c.private,
				"GONOPROXY": "", "NETRC": netrc, "SSL_CERT_FILE": certificate, "GOFLAGS": "", "GOENV": "off"} {
				t.Setenv(k, v)
			}
			up, err := depproxy.LoadClientSettings(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			up.Registries = map[string]ecosystem.Upstream{ecosystem.Go: up.Registries[ecosystem.Go]}
			useStores(t, be, up)
			layer := func(logins bool) (string, error) {
				repo := newProject(t).commit(
					map[string]string{"go.mod": "module example.org/m\n\ngo 1.24\n\nrequire corp.example/secret v1.0.0\n"})
				return be.fetchGoModules(t, Request{Repo: repo, UseLogins: logins})
			}
			if text, err := layer(true); err != nil || !strings.Contains(text, secretSource) {
				t.Fatalf("the attack does not work at all: %v", err)
			}
			_, err = layer(false)
			requireCode(t, err, company.EAuth, c.says, "this repository may not use it")
			if e := new(company.Error); !errors.As(err, &e) || !strings.Contains(e.Hint, "company trust --logins") {
				t.Errorf("hint: %+v", err)
			}
		})
	}
}

package ecosystemtest

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path"
	"strings"
	"testing"
)

// Zip packs files, each a name and a text, into a zip archive such as a wheel.
func Zip(t testing.TB, files ...[2]string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, f := range files {
		w, err := z.Create(f[0])
		if err != nil {
			t.Fatal(err)
		}
		_, _ = w.Write([]byte(f[1]))
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Crate packs files, each a name and a text, into a crate.
func Crate(t testing.TB, name, version string, files ...[2]string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for _, f := range files {
		if err := w.WriteHeader(
			&tar.Header{Name: name + "-" + version + "/" + f[0], Mode: 0o644, Size: int64(len(f[1]))}); err != nil {
			t.Fatal(err)
		}
		_, _ = w.Write([]byte(f[1]))
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// ServeCrates serves a sparse index at /index with these crates by name, and their files. Each crate has version
// 1.0.0 and no dependencies.
func ServeCrates(t testing.TB, crates map[string][]byte) *httptest.Server {
	t.Helper()
	return ServeNeedyCrates(t, crates, nil)
}

// ServeNeedyCrates is ServeCrates with a dependency, in any version, for the crates in needs.
func ServeNeedyCrates(t testing.TB, crates map[string][]byte, needs map[string]string) *httptest.Server {
	t.Helper()
	var srv *httptest.Server
	srv = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := path.Base(r.URL.Path)
		body, ok := crates[name]
		switch {
		case r.URL.Path == "/index/config.json":
			_, _ = fmt.Fprintf(w, `{"dl":"%s/files/{crate}"}`, srv.URL)
		case ok && strings.HasPrefix(r.URL.Path, "/files/"):
			_, _ = w.Write(body)
		case ok:
			sum := sha256.Sum256(body)
			deps := ""
			if needs[name] != "" {
				deps = fmt.Sprintf(
					`{"name":%q,"req":"*","features":[],"optional":false,"default_features":true,"target":null,"kind":"normal"}`,
					needs[name])
			}
			_, _ = fmt.Fprintf(w, `{"name":%q,"vers":"1.0.0","deps":[%s],"cksum":%q,"features":{},"yanked":false}`+"\n", name,
				deps, hex.EncodeToString(sum[:]))
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(srv.Close)
	return srv
}

// ServeWheels serves PyPI's simple API at /simple with these files by name.
func ServeWheels(t testing.TB, wheels map[string][]byte) *httptest.Server {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		base := path.Base(r.URL.Path)
		if body, ok := wheels[base]; ok {
			_, _ = w.Write(body)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		found := false
		for name, body := range wheels {
			if strings.HasPrefix(name, base+"-") {
				found = true
				sum := sha256.Sum256(body)
				_, _ = fmt.Fprintf(w, `<a href="../../f/%s#sha256=%s">%s</a>`, name, hex.EncodeToString(sum[:]), name)
			}
		}
		if !found {
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(srv.Close)
	return srv
}

// ComposerPackage is one version of a package in a composer repository.
type ComposerPackage struct {
	Version, Reference string // as lock files write them
	Fields             string // further fields of its description, each with a leading comma
	Zip                []byte
}

// ServeComposer serves a composer 2 repository at its root with these packages by name.
func ServeComposer(t testing.TB, all map[string]ComposerPackage) *httptest.Server {
	t.Helper()
	var srv *httptest.Server
	srv = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/packages.json" {
			_, _ = io.WriteString(w, `{"packages":[],"metadata-url":"/p2/%package%.json"}`)
			return
		}
		name, isDescription := strings.CutSuffix(strings.TrimPrefix(r.URL.Path, "/p2/"), ".json")
		if pkg, ok := all[name]; ok && isDescription {
			_, _ = fmt.Fprintf(
				w, `{"packages":{%[1]q:[{"name":%[1]q,"version":%[2]q,"dist":{"type":"zip","url":"%[3]s/zip/%[4]s","reference":%[4]q,"shasum":""}%[5]s}]}}`, name, pkg.Version, srv.URL, pkg.Reference, pkg.Fields)
			return
		}
		for _, pkg := range all {
			if r.URL.Path == "/zip/"+pkg.Reference {
				_, _ = w.Write(pkg.Zip)
				return
			}
		}
		http.NotFound(w, r)
	}))
	t.Cleanup(srv.Close)
	return srv
}

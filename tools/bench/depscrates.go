package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"net/http"
	"path"
	"strings"

	"company/internal/ecosystem"
	"company/internal/ecosystem/depproxy"
)

// serveCrates serves made-up crates as a sparse index does
// (doc.rust-lang.org/cargo/reference/registry-index.html), and writes a project that
// needs all of them.
func serveCrates(d *depsBench) (ups depproxy.Upstreams, stop func(), err error) {
	number, modules := 100, 30
	if d.w.Quick {
		number, modules = 2, 1
	}
	crates := map[string][]byte{} // by name
	manifest := "[package]\nname = \"bench\"\nversion = \"0.1.0\"\nedition = \"2021\"\nrust-version = " +
		"\"1.63\"\n[dependencies]\n"
	for n := range number {
		name := fmt.Sprintf("benchpart%d", n)
		if crates[name], err = makeCrate(name, modules); err != nil {
			return ups, nil, err
		}
		manifest += name + " = \"1\"\n"
	}
	d.client.files = map[string][]byte{"Cargo.toml": []byte(manifest), "src/lib.rs": []byte("pub fn nothing() {}\n")}
	d.client.quickFiles = d.client.files
	address, stop, err := serveLocally(func(w http.ResponseWriter, r *http.Request) {
		name := path.Base(r.URL.Path)
		crate, isFile := crates[strings.TrimSuffix(name, ".crate")], strings.HasSuffix(name, ".crate")
		switch {
		case name == "config.json":
			_, _ = fmt.Fprintf(w, `{"dl":"http://%s/files/{crate}.crate"}`, r.Host)
		case crate == nil:
			http.NotFound(w, r)
		case isFile:
			_, _ = w.Write(crate)
		default:
			sum := sha256.Sum256(crate)
			_, _ = fmt.Fprintf(w, `{"name":%q,"vers":"1.0.0","deps":[],"cksum":%q,"features":{},"yanked":false}`+"\n", name,
				hex.EncodeToString(sum[:]))
		}
	})
	if err != nil {
		return ups, nil, err
	}
	d.index = address + "/index"
	ups.Registries = map[string]ecosystem.Upstream{ecosystem.Crates: ecosystem.At(ecosystem.Endpoint{URL: d.index})}
	return ups, stop, nil
}

// makeCrate is a crate of some modules of 4 KB, always the same.
func makeCrate(name string, modules int) ([]byte, error) {
	r := rand.New(rand.NewPCG(2, uint64(len(name))))
	root := name + "-1.0.0/"
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	t := tar.NewWriter(z)
	add := func(file, text string) error {
		if err := t.WriteHeader(
			&tar.Header{Name: root + file, Mode: 0o644, Size: int64(len(text)), Typeflag: tar.TypeReg}); err != nil {
			return err
		}
		_, err := t.Write([]byte(text))
		return err
	}
	if err := add(
		"Cargo.toml", fmt.Sprintf("[package]\nname = %q\nversion = \"1.0.0\"\nedition = \"2021\"\n", name)); err != nil {
		return nil, err
	}
	var library strings.Builder
	for m := range modules {
		fmt.Fprintf(&library, "pub mod part_%d;\n", m)
		var code strings.Builder
		for f := range 40 {
			fmt.Fprintf(&code, "pub fn function_%d(first: u64) -> u64 {\n    let factor = %d;\n    (0..%d).map(|n| first * n "+
				"* factor).sum()\n}\n\n", f, r.Uint32(), r.IntN(1000))
		}
		if err := add(fmt.Sprintf("src/part_%d.rs", m), code.String()); err != nil {
			return nil, err
		}
	}
	if err := add("src/lib.rs", library.String()); err != nil {
		return nil, err
	}
	if err := t.Close(); err != nil {
		return nil, err
	}
	err := z.Close()
	return b.Bytes(), err
}
